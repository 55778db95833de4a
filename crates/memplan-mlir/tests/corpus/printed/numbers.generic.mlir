"builtin.module"() ({
  "func.func"() <{function_type = (i32, i32, vector<4xi32>, index, tensor<2x?xi8>) -> (), sym_name = "addi"}> ({
  ^bb0(%arg0: i32, %arg1: i32, %arg2: vector<4xi32>, %arg3: index, %arg4: tensor<2x?xi8>):
    %0 = "arith.addi"(%arg0, %arg1) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
    %1 = "arith.addi"(%arg2, %arg2) <{overflowFlags = #arith.overflow<none>}> : (vector<4xi32>, vector<4xi32>) -> vector<4xi32>
    %2 = "arith.addi"(%arg3, %arg3) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
    %3 = "arith.addi"(%arg4, %arg4) <{overflowFlags = #arith.overflow<none>}> : (tensor<2x?xi8>, tensor<2x?xi8>) -> tensor<2x?xi8>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i32, i32, vector<4xi32>, index, tensor<2x?xi8>) -> (), sym_name = "subi"}> ({
  ^bb0(%arg0: i32, %arg1: i32, %arg2: vector<4xi32>, %arg3: index, %arg4: tensor<2x?xi8>):
    %0 = "arith.subi"(%arg0, %arg1) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
    %1 = "arith.subi"(%arg2, %arg2) <{overflowFlags = #arith.overflow<none>}> : (vector<4xi32>, vector<4xi32>) -> vector<4xi32>
    %2 = "arith.subi"(%arg3, %arg3) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
    %3 = "arith.subi"(%arg4, %arg4) <{overflowFlags = #arith.overflow<none>}> : (tensor<2x?xi8>, tensor<2x?xi8>) -> tensor<2x?xi8>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i32, i32, vector<4xi32>, index, tensor<2x?xi8>) -> (), sym_name = "muli"}> ({
  ^bb0(%arg0: i32, %arg1: i32, %arg2: vector<4xi32>, %arg3: index, %arg4: tensor<2x?xi8>):
    %0 = "arith.muli"(%arg0, %arg1) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
    %1 = "arith.muli"(%arg2, %arg2) <{overflowFlags = #arith.overflow<none>}> : (vector<4xi32>, vector<4xi32>) -> vector<4xi32>
    %2 = "arith.muli"(%arg3, %arg3) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
    %3 = "arith.muli"(%arg4, %arg4) <{overflowFlags = #arith.overflow<none>}> : (tensor<2x?xi8>, tensor<2x?xi8>) -> tensor<2x?xi8>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i32, i32, vector<4xi32>, index, tensor<2x?xi8>) -> (), sym_name = "divsi"}> ({
  ^bb0(%arg0: i32, %arg1: i32, %arg2: vector<4xi32>, %arg3: index, %arg4: tensor<2x?xi8>):
    %0 = "arith.divsi"(%arg0, %arg1) : (i32, i32) -> i32
    %1 = "arith.divsi"(%arg2, %arg2) : (vector<4xi32>, vector<4xi32>) -> vector<4xi32>
    %2 = "arith.divsi"(%arg3, %arg3) : (index, index) -> index
    %3 = "arith.divsi"(%arg4, %arg4) : (tensor<2x?xi8>, tensor<2x?xi8>) -> tensor<2x?xi8>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i32, i32, vector<4xi32>, index, tensor<2x?xi8>) -> (), sym_name = "divui"}> ({
  ^bb0(%arg0: i32, %arg1: i32, %arg2: vector<4xi32>, %arg3: index, %arg4: tensor<2x?xi8>):
    %0 = "arith.divui"(%arg0, %arg1) : (i32, i32) -> i32
    %1 = "arith.divui"(%arg2, %arg2) : (vector<4xi32>, vector<4xi32>) -> vector<4xi32>
    %2 = "arith.divui"(%arg3, %arg3) : (index, index) -> index
    %3 = "arith.divui"(%arg4, %arg4) : (tensor<2x?xi8>, tensor<2x?xi8>) -> tensor<2x?xi8>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i32, i32, vector<4xi32>, index, tensor<2x?xi8>) -> (), sym_name = "remsi"}> ({
  ^bb0(%arg0: i32, %arg1: i32, %arg2: vector<4xi32>, %arg3: index, %arg4: tensor<2x?xi8>):
    %0 = "arith.remsi"(%arg0, %arg1) : (i32, i32) -> i32
    %1 = "arith.remsi"(%arg2, %arg2) : (vector<4xi32>, vector<4xi32>) -> vector<4xi32>
    %2 = "arith.remsi"(%arg3, %arg3) : (index, index) -> index
    %3 = "arith.remsi"(%arg4, %arg4) : (tensor<2x?xi8>, tensor<2x?xi8>) -> tensor<2x?xi8>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i32, i32, vector<4xi32>, index, tensor<2x?xi8>) -> (), sym_name = "remui"}> ({
  ^bb0(%arg0: i32, %arg1: i32, %arg2: vector<4xi32>, %arg3: index, %arg4: tensor<2x?xi8>):
    %0 = "arith.remui"(%arg0, %arg1) : (i32, i32) -> i32
    %1 = "arith.remui"(%arg2, %arg2) : (vector<4xi32>, vector<4xi32>) -> vector<4xi32>
    %2 = "arith.remui"(%arg3, %arg3) : (index, index) -> index
    %3 = "arith.remui"(%arg4, %arg4) : (tensor<2x?xi8>, tensor<2x?xi8>) -> tensor<2x?xi8>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i32, i32, vector<4xi32>, index, tensor<2x?xi8>) -> (), sym_name = "ceildivsi"}> ({
  ^bb0(%arg0: i32, %arg1: i32, %arg2: vector<4xi32>, %arg3: index, %arg4: tensor<2x?xi8>):
    %0 = "arith.ceildivsi"(%arg0, %arg1) : (i32, i32) -> i32
    %1 = "arith.ceildivsi"(%arg2, %arg2) : (vector<4xi32>, vector<4xi32>) -> vector<4xi32>
    %2 = "arith.ceildivsi"(%arg3, %arg3) : (index, index) -> index
    %3 = "arith.ceildivsi"(%arg4, %arg4) : (tensor<2x?xi8>, tensor<2x?xi8>) -> tensor<2x?xi8>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i32, i32, vector<4xi32>, index, tensor<2x?xi8>) -> (), sym_name = "ceildivui"}> ({
  ^bb0(%arg0: i32, %arg1: i32, %arg2: vector<4xi32>, %arg3: index, %arg4: tensor<2x?xi8>):
    %0 = "arith.ceildivui"(%arg0, %arg1) : (i32, i32) -> i32
    %1 = "arith.ceildivui"(%arg2, %arg2) : (vector<4xi32>, vector<4xi32>) -> vector<4xi32>
    %2 = "arith.ceildivui"(%arg3, %arg3) : (index, index) -> index
    %3 = "arith.ceildivui"(%arg4, %arg4) : (tensor<2x?xi8>, tensor<2x?xi8>) -> tensor<2x?xi8>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i32, i32, vector<4xi32>, index, tensor<2x?xi8>) -> (), sym_name = "floordivsi"}> ({
  ^bb0(%arg0: i32, %arg1: i32, %arg2: vector<4xi32>, %arg3: index, %arg4: tensor<2x?xi8>):
    %0 = "arith.floordivsi"(%arg0, %arg1) : (i32, i32) -> i32
    %1 = "arith.floordivsi"(%arg2, %arg2) : (vector<4xi32>, vector<4xi32>) -> vector<4xi32>
    %2 = "arith.floordivsi"(%arg3, %arg3) : (index, index) -> index
    %3 = "arith.floordivsi"(%arg4, %arg4) : (tensor<2x?xi8>, tensor<2x?xi8>) -> tensor<2x?xi8>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i32, i32, vector<4xi32>, index, tensor<2x?xi8>) -> (), sym_name = "andi"}> ({
  ^bb0(%arg0: i32, %arg1: i32, %arg2: vector<4xi32>, %arg3: index, %arg4: tensor<2x?xi8>):
    %0 = "arith.andi"(%arg0, %arg1) : (i32, i32) -> i32
    %1 = "arith.andi"(%arg2, %arg2) : (vector<4xi32>, vector<4xi32>) -> vector<4xi32>
    %2 = "arith.andi"(%arg3, %arg3) : (index, index) -> index
    %3 = "arith.andi"(%arg4, %arg4) : (tensor<2x?xi8>, tensor<2x?xi8>) -> tensor<2x?xi8>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i32, i32, vector<4xi32>, index, tensor<2x?xi8>) -> (), sym_name = "ori"}> ({
  ^bb0(%arg0: i32, %arg1: i32, %arg2: vector<4xi32>, %arg3: index, %arg4: tensor<2x?xi8>):
    %0 = "arith.ori"(%arg0, %arg1) : (i32, i32) -> i32
    %1 = "arith.ori"(%arg2, %arg2) : (vector<4xi32>, vector<4xi32>) -> vector<4xi32>
    %2 = "arith.ori"(%arg3, %arg3) : (index, index) -> index
    %3 = "arith.ori"(%arg4, %arg4) : (tensor<2x?xi8>, tensor<2x?xi8>) -> tensor<2x?xi8>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i32, i32, vector<4xi32>, index, tensor<2x?xi8>) -> (), sym_name = "xori"}> ({
  ^bb0(%arg0: i32, %arg1: i32, %arg2: vector<4xi32>, %arg3: index, %arg4: tensor<2x?xi8>):
    %0 = "arith.xori"(%arg0, %arg1) : (i32, i32) -> i32
    %1 = "arith.xori"(%arg2, %arg2) : (vector<4xi32>, vector<4xi32>) -> vector<4xi32>
    %2 = "arith.xori"(%arg3, %arg3) : (index, index) -> index
    %3 = "arith.xori"(%arg4, %arg4) : (tensor<2x?xi8>, tensor<2x?xi8>) -> tensor<2x?xi8>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i32, i32, vector<4xi32>, index, tensor<2x?xi8>) -> (), sym_name = "shli"}> ({
  ^bb0(%arg0: i32, %arg1: i32, %arg2: vector<4xi32>, %arg3: index, %arg4: tensor<2x?xi8>):
    %0 = "arith.shli"(%arg0, %arg1) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
    %1 = "arith.shli"(%arg2, %arg2) <{overflowFlags = #arith.overflow<none>}> : (vector<4xi32>, vector<4xi32>) -> vector<4xi32>
    %2 = "arith.shli"(%arg3, %arg3) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
    %3 = "arith.shli"(%arg4, %arg4) <{overflowFlags = #arith.overflow<none>}> : (tensor<2x?xi8>, tensor<2x?xi8>) -> tensor<2x?xi8>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i32, i32, vector<4xi32>, index, tensor<2x?xi8>) -> (), sym_name = "shrsi"}> ({
  ^bb0(%arg0: i32, %arg1: i32, %arg2: vector<4xi32>, %arg3: index, %arg4: tensor<2x?xi8>):
    %0 = "arith.shrsi"(%arg0, %arg1) : (i32, i32) -> i32
    %1 = "arith.shrsi"(%arg2, %arg2) : (vector<4xi32>, vector<4xi32>) -> vector<4xi32>
    %2 = "arith.shrsi"(%arg3, %arg3) : (index, index) -> index
    %3 = "arith.shrsi"(%arg4, %arg4) : (tensor<2x?xi8>, tensor<2x?xi8>) -> tensor<2x?xi8>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i32, i32, vector<4xi32>, index, tensor<2x?xi8>) -> (), sym_name = "shrui"}> ({
  ^bb0(%arg0: i32, %arg1: i32, %arg2: vector<4xi32>, %arg3: index, %arg4: tensor<2x?xi8>):
    %0 = "arith.shrui"(%arg0, %arg1) : (i32, i32) -> i32
    %1 = "arith.shrui"(%arg2, %arg2) : (vector<4xi32>, vector<4xi32>) -> vector<4xi32>
    %2 = "arith.shrui"(%arg3, %arg3) : (index, index) -> index
    %3 = "arith.shrui"(%arg4, %arg4) : (tensor<2x?xi8>, tensor<2x?xi8>) -> tensor<2x?xi8>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i32, i32, vector<4xi32>, index, tensor<2x?xi8>) -> (), sym_name = "maxsi"}> ({
  ^bb0(%arg0: i32, %arg1: i32, %arg2: vector<4xi32>, %arg3: index, %arg4: tensor<2x?xi8>):
    %0 = "arith.maxsi"(%arg0, %arg1) : (i32, i32) -> i32
    %1 = "arith.maxsi"(%arg2, %arg2) : (vector<4xi32>, vector<4xi32>) -> vector<4xi32>
    %2 = "arith.maxsi"(%arg3, %arg3) : (index, index) -> index
    %3 = "arith.maxsi"(%arg4, %arg4) : (tensor<2x?xi8>, tensor<2x?xi8>) -> tensor<2x?xi8>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i32, i32, vector<4xi32>, index, tensor<2x?xi8>) -> (), sym_name = "maxui"}> ({
  ^bb0(%arg0: i32, %arg1: i32, %arg2: vector<4xi32>, %arg3: index, %arg4: tensor<2x?xi8>):
    %0 = "arith.maxui"(%arg0, %arg1) : (i32, i32) -> i32
    %1 = "arith.maxui"(%arg2, %arg2) : (vector<4xi32>, vector<4xi32>) -> vector<4xi32>
    %2 = "arith.maxui"(%arg3, %arg3) : (index, index) -> index
    %3 = "arith.maxui"(%arg4, %arg4) : (tensor<2x?xi8>, tensor<2x?xi8>) -> tensor<2x?xi8>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i32, i32, vector<4xi32>, index, tensor<2x?xi8>) -> (), sym_name = "minsi"}> ({
  ^bb0(%arg0: i32, %arg1: i32, %arg2: vector<4xi32>, %arg3: index, %arg4: tensor<2x?xi8>):
    %0 = "arith.minsi"(%arg0, %arg1) : (i32, i32) -> i32
    %1 = "arith.minsi"(%arg2, %arg2) : (vector<4xi32>, vector<4xi32>) -> vector<4xi32>
    %2 = "arith.minsi"(%arg3, %arg3) : (index, index) -> index
    %3 = "arith.minsi"(%arg4, %arg4) : (tensor<2x?xi8>, tensor<2x?xi8>) -> tensor<2x?xi8>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i32, i32, vector<4xi32>, index, tensor<2x?xi8>) -> (), sym_name = "minui"}> ({
  ^bb0(%arg0: i32, %arg1: i32, %arg2: vector<4xi32>, %arg3: index, %arg4: tensor<2x?xi8>):
    %0 = "arith.minui"(%arg0, %arg1) : (i32, i32) -> i32
    %1 = "arith.minui"(%arg2, %arg2) : (vector<4xi32>, vector<4xi32>) -> vector<4xi32>
    %2 = "arith.minui"(%arg3, %arg3) : (index, index) -> index
    %3 = "arith.minui"(%arg4, %arg4) : (tensor<2x?xi8>, tensor<2x?xi8>) -> tensor<2x?xi8>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f32, f32, vector<2x4xf16>) -> (), sym_name = "addf"}> ({
  ^bb0(%arg0: f32, %arg1: f32, %arg2: vector<2x4xf16>):
    %0 = "arith.addf"(%arg0, %arg1) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    %1 = "arith.addf"(%arg2, %arg2) <{fastmath = #arith.fastmath<contract>}> : (vector<2x4xf16>, vector<2x4xf16>) -> vector<2x4xf16>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f32, f32, vector<2x4xf16>) -> (), sym_name = "subf"}> ({
  ^bb0(%arg0: f32, %arg1: f32, %arg2: vector<2x4xf16>):
    %0 = "arith.subf"(%arg0, %arg1) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    %1 = "arith.subf"(%arg2, %arg2) <{fastmath = #arith.fastmath<contract>}> : (vector<2x4xf16>, vector<2x4xf16>) -> vector<2x4xf16>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f32, f32, vector<2x4xf16>) -> (), sym_name = "mulf"}> ({
  ^bb0(%arg0: f32, %arg1: f32, %arg2: vector<2x4xf16>):
    %0 = "arith.mulf"(%arg0, %arg1) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    %1 = "arith.mulf"(%arg2, %arg2) <{fastmath = #arith.fastmath<contract>}> : (vector<2x4xf16>, vector<2x4xf16>) -> vector<2x4xf16>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f32, f32, vector<2x4xf16>) -> (), sym_name = "divf"}> ({
  ^bb0(%arg0: f32, %arg1: f32, %arg2: vector<2x4xf16>):
    %0 = "arith.divf"(%arg0, %arg1) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    %1 = "arith.divf"(%arg2, %arg2) <{fastmath = #arith.fastmath<contract>}> : (vector<2x4xf16>, vector<2x4xf16>) -> vector<2x4xf16>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f32, f32, vector<2x4xf16>) -> (), sym_name = "remf"}> ({
  ^bb0(%arg0: f32, %arg1: f32, %arg2: vector<2x4xf16>):
    %0 = "arith.remf"(%arg0, %arg1) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    %1 = "arith.remf"(%arg2, %arg2) <{fastmath = #arith.fastmath<contract>}> : (vector<2x4xf16>, vector<2x4xf16>) -> vector<2x4xf16>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f32, f32, vector<2x4xf16>) -> (), sym_name = "maximumf"}> ({
  ^bb0(%arg0: f32, %arg1: f32, %arg2: vector<2x4xf16>):
    %0 = "arith.maximumf"(%arg0, %arg1) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    %1 = "arith.maximumf"(%arg2, %arg2) <{fastmath = #arith.fastmath<contract>}> : (vector<2x4xf16>, vector<2x4xf16>) -> vector<2x4xf16>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f32, f32, vector<2x4xf16>) -> (), sym_name = "maxnumf"}> ({
  ^bb0(%arg0: f32, %arg1: f32, %arg2: vector<2x4xf16>):
    %0 = "arith.maxnumf"(%arg0, %arg1) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    %1 = "arith.maxnumf"(%arg2, %arg2) <{fastmath = #arith.fastmath<contract>}> : (vector<2x4xf16>, vector<2x4xf16>) -> vector<2x4xf16>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f32, f32, vector<2x4xf16>) -> (), sym_name = "minimumf"}> ({
  ^bb0(%arg0: f32, %arg1: f32, %arg2: vector<2x4xf16>):
    %0 = "arith.minimumf"(%arg0, %arg1) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    %1 = "arith.minimumf"(%arg2, %arg2) <{fastmath = #arith.fastmath<contract>}> : (vector<2x4xf16>, vector<2x4xf16>) -> vector<2x4xf16>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f32, f32, vector<2x4xf16>) -> (), sym_name = "minnumf"}> ({
  ^bb0(%arg0: f32, %arg1: f32, %arg2: vector<2x4xf16>):
    %0 = "arith.minnumf"(%arg0, %arg1) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    %1 = "arith.minnumf"(%arg2, %arg2) <{fastmath = #arith.fastmath<contract>}> : (vector<2x4xf16>, vector<2x4xf16>) -> vector<2x4xf16>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i64, vector<4xi64>) -> (), sym_name = "cmpi_eq"}> ({
  ^bb0(%arg0: i64, %arg1: vector<4xi64>):
    %0 = "arith.cmpi"(%arg0, %arg0) <{predicate = 0 : i64}> : (i64, i64) -> i1
    %1 = "arith.cmpi"(%arg1, %arg1) <{predicate = 0 : i64}> : (vector<4xi64>, vector<4xi64>) -> vector<4xi1>
    %2 = "arith.select"(%0, %arg0, %arg0) : (i1, i64, i64) -> i64
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i64, vector<4xi64>) -> (), sym_name = "cmpi_ne"}> ({
  ^bb0(%arg0: i64, %arg1: vector<4xi64>):
    %0 = "arith.cmpi"(%arg0, %arg0) <{predicate = 1 : i64}> : (i64, i64) -> i1
    %1 = "arith.cmpi"(%arg1, %arg1) <{predicate = 1 : i64}> : (vector<4xi64>, vector<4xi64>) -> vector<4xi1>
    %2 = "arith.select"(%0, %arg0, %arg0) : (i1, i64, i64) -> i64
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i64, vector<4xi64>) -> (), sym_name = "cmpi_slt"}> ({
  ^bb0(%arg0: i64, %arg1: vector<4xi64>):
    %0 = "arith.cmpi"(%arg0, %arg0) <{predicate = 2 : i64}> : (i64, i64) -> i1
    %1 = "arith.cmpi"(%arg1, %arg1) <{predicate = 2 : i64}> : (vector<4xi64>, vector<4xi64>) -> vector<4xi1>
    %2 = "arith.select"(%0, %arg0, %arg0) : (i1, i64, i64) -> i64
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i64, vector<4xi64>) -> (), sym_name = "cmpi_sle"}> ({
  ^bb0(%arg0: i64, %arg1: vector<4xi64>):
    %0 = "arith.cmpi"(%arg0, %arg0) <{predicate = 3 : i64}> : (i64, i64) -> i1
    %1 = "arith.cmpi"(%arg1, %arg1) <{predicate = 3 : i64}> : (vector<4xi64>, vector<4xi64>) -> vector<4xi1>
    %2 = "arith.select"(%0, %arg0, %arg0) : (i1, i64, i64) -> i64
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i64, vector<4xi64>) -> (), sym_name = "cmpi_sgt"}> ({
  ^bb0(%arg0: i64, %arg1: vector<4xi64>):
    %0 = "arith.cmpi"(%arg0, %arg0) <{predicate = 4 : i64}> : (i64, i64) -> i1
    %1 = "arith.cmpi"(%arg1, %arg1) <{predicate = 4 : i64}> : (vector<4xi64>, vector<4xi64>) -> vector<4xi1>
    %2 = "arith.select"(%0, %arg0, %arg0) : (i1, i64, i64) -> i64
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i64, vector<4xi64>) -> (), sym_name = "cmpi_sge"}> ({
  ^bb0(%arg0: i64, %arg1: vector<4xi64>):
    %0 = "arith.cmpi"(%arg0, %arg0) <{predicate = 5 : i64}> : (i64, i64) -> i1
    %1 = "arith.cmpi"(%arg1, %arg1) <{predicate = 5 : i64}> : (vector<4xi64>, vector<4xi64>) -> vector<4xi1>
    %2 = "arith.select"(%0, %arg0, %arg0) : (i1, i64, i64) -> i64
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i64, vector<4xi64>) -> (), sym_name = "cmpi_ult"}> ({
  ^bb0(%arg0: i64, %arg1: vector<4xi64>):
    %0 = "arith.cmpi"(%arg0, %arg0) <{predicate = 6 : i64}> : (i64, i64) -> i1
    %1 = "arith.cmpi"(%arg1, %arg1) <{predicate = 6 : i64}> : (vector<4xi64>, vector<4xi64>) -> vector<4xi1>
    %2 = "arith.select"(%0, %arg0, %arg0) : (i1, i64, i64) -> i64
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i64, vector<4xi64>) -> (), sym_name = "cmpi_ule"}> ({
  ^bb0(%arg0: i64, %arg1: vector<4xi64>):
    %0 = "arith.cmpi"(%arg0, %arg0) <{predicate = 7 : i64}> : (i64, i64) -> i1
    %1 = "arith.cmpi"(%arg1, %arg1) <{predicate = 7 : i64}> : (vector<4xi64>, vector<4xi64>) -> vector<4xi1>
    %2 = "arith.select"(%0, %arg0, %arg0) : (i1, i64, i64) -> i64
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i64, vector<4xi64>) -> (), sym_name = "cmpi_ugt"}> ({
  ^bb0(%arg0: i64, %arg1: vector<4xi64>):
    %0 = "arith.cmpi"(%arg0, %arg0) <{predicate = 8 : i64}> : (i64, i64) -> i1
    %1 = "arith.cmpi"(%arg1, %arg1) <{predicate = 8 : i64}> : (vector<4xi64>, vector<4xi64>) -> vector<4xi1>
    %2 = "arith.select"(%0, %arg0, %arg0) : (i1, i64, i64) -> i64
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i64, vector<4xi64>) -> (), sym_name = "cmpi_uge"}> ({
  ^bb0(%arg0: i64, %arg1: vector<4xi64>):
    %0 = "arith.cmpi"(%arg0, %arg0) <{predicate = 9 : i64}> : (i64, i64) -> i1
    %1 = "arith.cmpi"(%arg1, %arg1) <{predicate = 9 : i64}> : (vector<4xi64>, vector<4xi64>) -> vector<4xi1>
    %2 = "arith.select"(%0, %arg0, %arg0) : (i1, i64, i64) -> i64
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f64) -> (), sym_name = "cmpf_oeq"}> ({
  ^bb0(%arg0: f64):
    %0 = "arith.cmpf"(%arg0, %arg0) <{fastmath = #arith.fastmath<none>, predicate = 1 : i64}> : (f64, f64) -> i1
    %1 = "arith.cmpf"(%arg0, %arg0) <{fastmath = #arith.fastmath<fast>, predicate = 1 : i64}> : (f64, f64) -> i1
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f64) -> (), sym_name = "cmpf_olt"}> ({
  ^bb0(%arg0: f64):
    %0 = "arith.cmpf"(%arg0, %arg0) <{fastmath = #arith.fastmath<none>, predicate = 4 : i64}> : (f64, f64) -> i1
    %1 = "arith.cmpf"(%arg0, %arg0) <{fastmath = #arith.fastmath<fast>, predicate = 4 : i64}> : (f64, f64) -> i1
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f64) -> (), sym_name = "cmpf_ogt"}> ({
  ^bb0(%arg0: f64):
    %0 = "arith.cmpf"(%arg0, %arg0) <{fastmath = #arith.fastmath<none>, predicate = 2 : i64}> : (f64, f64) -> i1
    %1 = "arith.cmpf"(%arg0, %arg0) <{fastmath = #arith.fastmath<fast>, predicate = 2 : i64}> : (f64, f64) -> i1
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f64) -> (), sym_name = "cmpf_ole"}> ({
  ^bb0(%arg0: f64):
    %0 = "arith.cmpf"(%arg0, %arg0) <{fastmath = #arith.fastmath<none>, predicate = 5 : i64}> : (f64, f64) -> i1
    %1 = "arith.cmpf"(%arg0, %arg0) <{fastmath = #arith.fastmath<fast>, predicate = 5 : i64}> : (f64, f64) -> i1
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f64) -> (), sym_name = "cmpf_oge"}> ({
  ^bb0(%arg0: f64):
    %0 = "arith.cmpf"(%arg0, %arg0) <{fastmath = #arith.fastmath<none>, predicate = 3 : i64}> : (f64, f64) -> i1
    %1 = "arith.cmpf"(%arg0, %arg0) <{fastmath = #arith.fastmath<fast>, predicate = 3 : i64}> : (f64, f64) -> i1
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f64) -> (), sym_name = "cmpf_one"}> ({
  ^bb0(%arg0: f64):
    %0 = "arith.cmpf"(%arg0, %arg0) <{fastmath = #arith.fastmath<none>, predicate = 6 : i64}> : (f64, f64) -> i1
    %1 = "arith.cmpf"(%arg0, %arg0) <{fastmath = #arith.fastmath<fast>, predicate = 6 : i64}> : (f64, f64) -> i1
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f64) -> (), sym_name = "cmpf_ord"}> ({
  ^bb0(%arg0: f64):
    %0 = "arith.cmpf"(%arg0, %arg0) <{fastmath = #arith.fastmath<none>, predicate = 7 : i64}> : (f64, f64) -> i1
    %1 = "arith.cmpf"(%arg0, %arg0) <{fastmath = #arith.fastmath<fast>, predicate = 7 : i64}> : (f64, f64) -> i1
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f64) -> (), sym_name = "cmpf_ueq"}> ({
  ^bb0(%arg0: f64):
    %0 = "arith.cmpf"(%arg0, %arg0) <{fastmath = #arith.fastmath<none>, predicate = 8 : i64}> : (f64, f64) -> i1
    %1 = "arith.cmpf"(%arg0, %arg0) <{fastmath = #arith.fastmath<fast>, predicate = 8 : i64}> : (f64, f64) -> i1
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f64) -> (), sym_name = "cmpf_ult"}> ({
  ^bb0(%arg0: f64):
    %0 = "arith.cmpf"(%arg0, %arg0) <{fastmath = #arith.fastmath<none>, predicate = 11 : i64}> : (f64, f64) -> i1
    %1 = "arith.cmpf"(%arg0, %arg0) <{fastmath = #arith.fastmath<fast>, predicate = 11 : i64}> : (f64, f64) -> i1
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f64) -> (), sym_name = "cmpf_uno"}> ({
  ^bb0(%arg0: f64):
    %0 = "arith.cmpf"(%arg0, %arg0) <{fastmath = #arith.fastmath<none>, predicate = 14 : i64}> : (f64, f64) -> i1
    %1 = "arith.cmpf"(%arg0, %arg0) <{fastmath = #arith.fastmath<fast>, predicate = 14 : i64}> : (f64, f64) -> i1
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f64) -> (), sym_name = "cmpf_false"}> ({
  ^bb0(%arg0: f64):
    %0 = "arith.cmpf"(%arg0, %arg0) <{fastmath = #arith.fastmath<none>, predicate = 0 : i64}> : (f64, f64) -> i1
    %1 = "arith.cmpf"(%arg0, %arg0) <{fastmath = #arith.fastmath<fast>, predicate = 0 : i64}> : (f64, f64) -> i1
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f64) -> (), sym_name = "cmpf_true"}> ({
  ^bb0(%arg0: f64):
    %0 = "arith.cmpf"(%arg0, %arg0) <{fastmath = #arith.fastmath<none>, predicate = 15 : i64}> : (f64, f64) -> i1
    %1 = "arith.cmpf"(%arg0, %arg0) <{fastmath = #arith.fastmath<fast>, predicate = 15 : i64}> : (f64, f64) -> i1
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i8, i32, f16, f32, index) -> (), sym_name = "casts"}> ({
  ^bb0(%arg0: i8, %arg1: i32, %arg2: f16, %arg3: f32, %arg4: index):
    %0 = "arith.extui"(%arg0) : (i8) -> i32
    %1 = "arith.uitofp"(%arg1) : (i32) -> f32
    %2 = "arith.fptoui"(%arg2) : (f16) -> i16
    %3 = "arith.index_castui"(%arg4) : (index) -> i64
    %4 = "arith.trunci"(%arg1) <{overflowFlags = #arith.overflow<nsw>}> : (i32) -> i16
    %5 = "arith.bitcast"(%arg3) : (f32) -> i32
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f32, vector<4xf32>) -> (), sym_name = "math_absf"}> ({
  ^bb0(%arg0: f32, %arg1: vector<4xf32>):
    %0 = "math.absf"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
    %1 = "math.absf"(%arg1) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>) -> vector<4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f32, vector<4xf32>) -> (), sym_name = "math_acos"}> ({
  ^bb0(%arg0: f32, %arg1: vector<4xf32>):
    %0 = "math.acos"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
    %1 = "math.acos"(%arg1) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>) -> vector<4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f32, vector<4xf32>) -> (), sym_name = "math_acosh"}> ({
  ^bb0(%arg0: f32, %arg1: vector<4xf32>):
    %0 = "math.acosh"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
    %1 = "math.acosh"(%arg1) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>) -> vector<4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f32, vector<4xf32>) -> (), sym_name = "math_asin"}> ({
  ^bb0(%arg0: f32, %arg1: vector<4xf32>):
    %0 = "math.asin"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
    %1 = "math.asin"(%arg1) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>) -> vector<4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f32, vector<4xf32>) -> (), sym_name = "math_asinh"}> ({
  ^bb0(%arg0: f32, %arg1: vector<4xf32>):
    %0 = "math.asinh"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
    %1 = "math.asinh"(%arg1) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>) -> vector<4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f32, vector<4xf32>) -> (), sym_name = "math_atan"}> ({
  ^bb0(%arg0: f32, %arg1: vector<4xf32>):
    %0 = "math.atan"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
    %1 = "math.atan"(%arg1) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>) -> vector<4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f32, vector<4xf32>) -> (), sym_name = "math_atanh"}> ({
  ^bb0(%arg0: f32, %arg1: vector<4xf32>):
    %0 = "math.atanh"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
    %1 = "math.atanh"(%arg1) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>) -> vector<4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f32, vector<4xf32>) -> (), sym_name = "math_cbrt"}> ({
  ^bb0(%arg0: f32, %arg1: vector<4xf32>):
    %0 = "math.cbrt"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
    %1 = "math.cbrt"(%arg1) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>) -> vector<4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f32, vector<4xf32>) -> (), sym_name = "math_ceil"}> ({
  ^bb0(%arg0: f32, %arg1: vector<4xf32>):
    %0 = "math.ceil"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
    %1 = "math.ceil"(%arg1) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>) -> vector<4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f32, vector<4xf32>) -> (), sym_name = "math_cos"}> ({
  ^bb0(%arg0: f32, %arg1: vector<4xf32>):
    %0 = "math.cos"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
    %1 = "math.cos"(%arg1) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>) -> vector<4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f32, vector<4xf32>) -> (), sym_name = "math_cosh"}> ({
  ^bb0(%arg0: f32, %arg1: vector<4xf32>):
    %0 = "math.cosh"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
    %1 = "math.cosh"(%arg1) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>) -> vector<4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f32, vector<4xf32>) -> (), sym_name = "math_erf"}> ({
  ^bb0(%arg0: f32, %arg1: vector<4xf32>):
    %0 = "math.erf"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
    %1 = "math.erf"(%arg1) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>) -> vector<4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f32, vector<4xf32>) -> (), sym_name = "math_erfc"}> ({
  ^bb0(%arg0: f32, %arg1: vector<4xf32>):
    %0 = "math.erfc"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
    %1 = "math.erfc"(%arg1) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>) -> vector<4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f32, vector<4xf32>) -> (), sym_name = "math_exp"}> ({
  ^bb0(%arg0: f32, %arg1: vector<4xf32>):
    %0 = "math.exp"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
    %1 = "math.exp"(%arg1) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>) -> vector<4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f32, vector<4xf32>) -> (), sym_name = "math_exp2"}> ({
  ^bb0(%arg0: f32, %arg1: vector<4xf32>):
    %0 = "math.exp2"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
    %1 = "math.exp2"(%arg1) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>) -> vector<4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f32, vector<4xf32>) -> (), sym_name = "math_expm1"}> ({
  ^bb0(%arg0: f32, %arg1: vector<4xf32>):
    %0 = "math.expm1"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
    %1 = "math.expm1"(%arg1) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>) -> vector<4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f32, vector<4xf32>) -> (), sym_name = "math_floor"}> ({
  ^bb0(%arg0: f32, %arg1: vector<4xf32>):
    %0 = "math.floor"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
    %1 = "math.floor"(%arg1) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>) -> vector<4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f32, vector<4xf32>) -> (), sym_name = "math_log"}> ({
  ^bb0(%arg0: f32, %arg1: vector<4xf32>):
    %0 = "math.log"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
    %1 = "math.log"(%arg1) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>) -> vector<4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f32, vector<4xf32>) -> (), sym_name = "math_log10"}> ({
  ^bb0(%arg0: f32, %arg1: vector<4xf32>):
    %0 = "math.log10"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
    %1 = "math.log10"(%arg1) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>) -> vector<4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f32, vector<4xf32>) -> (), sym_name = "math_log1p"}> ({
  ^bb0(%arg0: f32, %arg1: vector<4xf32>):
    %0 = "math.log1p"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
    %1 = "math.log1p"(%arg1) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>) -> vector<4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f32, vector<4xf32>) -> (), sym_name = "math_log2"}> ({
  ^bb0(%arg0: f32, %arg1: vector<4xf32>):
    %0 = "math.log2"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
    %1 = "math.log2"(%arg1) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>) -> vector<4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f32, vector<4xf32>) -> (), sym_name = "math_round"}> ({
  ^bb0(%arg0: f32, %arg1: vector<4xf32>):
    %0 = "math.round"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
    %1 = "math.round"(%arg1) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>) -> vector<4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f32, vector<4xf32>) -> (), sym_name = "math_roundeven"}> ({
  ^bb0(%arg0: f32, %arg1: vector<4xf32>):
    %0 = "math.roundeven"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
    %1 = "math.roundeven"(%arg1) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>) -> vector<4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f32, vector<4xf32>) -> (), sym_name = "math_rsqrt"}> ({
  ^bb0(%arg0: f32, %arg1: vector<4xf32>):
    %0 = "math.rsqrt"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
    %1 = "math.rsqrt"(%arg1) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>) -> vector<4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f32, vector<4xf32>) -> (), sym_name = "math_sin"}> ({
  ^bb0(%arg0: f32, %arg1: vector<4xf32>):
    %0 = "math.sin"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
    %1 = "math.sin"(%arg1) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>) -> vector<4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f32, vector<4xf32>) -> (), sym_name = "math_sinh"}> ({
  ^bb0(%arg0: f32, %arg1: vector<4xf32>):
    %0 = "math.sinh"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
    %1 = "math.sinh"(%arg1) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>) -> vector<4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f32, vector<4xf32>) -> (), sym_name = "math_sqrt"}> ({
  ^bb0(%arg0: f32, %arg1: vector<4xf32>):
    %0 = "math.sqrt"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
    %1 = "math.sqrt"(%arg1) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>) -> vector<4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f32, vector<4xf32>) -> (), sym_name = "math_tan"}> ({
  ^bb0(%arg0: f32, %arg1: vector<4xf32>):
    %0 = "math.tan"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
    %1 = "math.tan"(%arg1) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>) -> vector<4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f32, vector<4xf32>) -> (), sym_name = "math_tanh"}> ({
  ^bb0(%arg0: f32, %arg1: vector<4xf32>):
    %0 = "math.tanh"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
    %1 = "math.tanh"(%arg1) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>) -> vector<4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f32, vector<4xf32>) -> (), sym_name = "math_trunc"}> ({
  ^bb0(%arg0: f32, %arg1: vector<4xf32>):
    %0 = "math.trunc"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
    %1 = "math.trunc"(%arg1) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>) -> vector<4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i32) -> (), sym_name = "math_int"}> ({
  ^bb0(%arg0: i32):
    %0 = "math.absi"(%arg0) : (i32) -> i32
    %1 = "math.ctlz"(%arg0) : (i32) -> i32
    %2 = "math.cttz"(%arg0) : (i32) -> i32
    %3 = "math.ctpop"(%arg0) : (i32) -> i32
    %4 = "math.ipowi"(%arg0, %arg0) : (i32, i32) -> i32
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f32, i32) -> (), sym_name = "math_two"}> ({
  ^bb0(%arg0: f32, %arg1: i32):
    %0 = "math.atan2"(%arg0, %arg0) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    %1 = "math.copysign"(%arg0, %arg0) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    %2 = "math.powf"(%arg0, %arg0) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    %3 = "math.fpowi"(%arg0, %arg1) <{fastmath = #arith.fastmath<none>}> : (f32, i32) -> f32
    %4 = "math.fma"(%arg0, %arg0, %arg0) <{fastmath = #arith.fastmath<none>}> : (f32, f32, f32) -> f32
    %5 = "math.isinf"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> i1
    %6 = "math.isnormal"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> i1
    %7:2 = "math.sincos"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> (f32, f32)
    %8 = "math.clampf"(%arg0, %arg0, %arg0) <{fastmath = #arith.fastmath<none>}> : (f32, f32, f32) -> f32
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

