"builtin.module"() ({
  "func.func"() <{function_type = (memref<4xf32>, i32) -> f32, sym_name = "declared", sym_visibility = "private"}> ({
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = () -> (), sym_name = "empty"}> ({
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{arg_attrs = [{acme.tag = "x, y}", acme.unit}, {}], function_type = (i32, f32) -> (i32, f32), res_attrs = [{acme.out = 1 : i64}, {}], sym_name = "attributes", sym_visibility = "public"}> ({
  ^bb0(%arg0: i32, %arg1: f32):
    "func.return"(%arg0, %arg1) : (i32, f32) -> ()
  }) {acme.outer = [1, 2, {k = "v"}], passthrough = ["a"]} : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (memref<4xf32>) -> memref<4xf32>, sym_name = "callee"}> ({
  ^bb0(%arg1: memref<4xf32>):
    "func.return"(%arg1) : (memref<4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (memref<4xf32>) -> memref<4xf32>, sym_name = "caller"}> ({
  ^bb0(%arg0: memref<4xf32>):
    %0 = "func.call"(%arg0) <{callee = @callee}> : (memref<4xf32>) -> memref<4xf32>
    %1 = "func.call"(%0) <{callee = @callee}> {acme.hint} : (memref<4xf32>) -> memref<4xf32>
    "func.return"(%1) : (memref<4xf32>) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = () -> (i32, i32, i32), sym_name = "many"}> ({
    %2:3 = "acme.three"() : () -> (i32, i32, i32)
    "func.return"(%2#2, %2#0, %2#1) : (i32, i32, i32) -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "use"}> ({
    %0:3 = "func.call"() <{callee = @many}> : () -> (i32, i32, i32)
    "acme.use"(%0#1, %0#2) : (i32, i32) -> ()
    %1:3 = "func.call"() <{callee = @many}> : () -> (i32, i32, i32)
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i32) -> i32, sym_name = "target"}> ({
  ^bb0(%arg1: i32):
    "func.return"(%arg1) : (i32) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (i32) -> i32, sym_name = "indirect"}> ({
  ^bb0(%arg0: i32):
    %0 = "func.constant"() <{value = @target}> : () -> ((i32) -> i32)
    %1 = "func.call_indirect"(%0, %arg0) : ((i32) -> i32, i32) -> i32
    "func.return"(%1) : (i32) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() <{sym_name = "outer"}> ({
  "builtin.module"() <{sym_name = "inner"}> ({
    "func.func"() <{function_type = () -> (), sym_name = "f"}> ({
      "func.return"() : () -> ()
    }) : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "strange name"}> ({
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "g"}> ({
    "func.call"() <{callee = @"strange name"}> : () -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) {acme.a = 1 : i32} : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (tuple<i32, tuple<f32, index>>, (i32) -> (f32, f32), none, !acme.opaque<"x", [1, 2], a -> b>) -> (), sym_name = "tuple_and_function_types"}> ({
  ^bb0(%arg0: tuple<i32, tuple<f32, index>>, %arg1: (i32) -> (f32, f32), %arg2: none, %arg3: !acme.opaque<"x", [1, 2], a -> b>):
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i32, memref<4xf32>) -> (memref<?xf32>, i64, i64), sym_name = "casts"}> ({
  ^bb0(%arg0: i32, %arg1: memref<4xf32>):
    %0 = "builtin.unrealized_conversion_cast"(%arg1) : (memref<4xf32>) -> memref<?xf32>
    %1:2 = "builtin.unrealized_conversion_cast"(%arg0) : (i32) -> (i64, i64)
    "func.return"(%0, %1#0, %1#1) : (memref<?xf32>, i64, i64) -> ()
  }) : () -> ()
}) : () -> ()

