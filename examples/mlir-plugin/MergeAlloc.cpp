/* memplan inside mlir-opt: a pass plugin over the C ABI.

     cargo build --release -p memplan-capi
     c++ -std=c++17 -fPIC -shared -fno-rtti -I /usr/lib/llvm-22/include -I crates/memplan-capi/include \
         examples/mlir-plugin/MergeAlloc.cpp target/release/libmemplan_capi.a \
         -L /usr/lib/llvm-22/lib -l:libMLIR.so.22.1 -o libMemplanPlugin.so
     mlir-opt-22 --load-pass-plugin=./libMemplanPlugin.so \
         --pass-pipeline='builtin.module(memplan-merge-alloc{options="alignment=64"})' in.mlir

   The module goes over as text and comes back as text; memplan has checked the new one against the old one.
*/

#include "memplan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace {

struct MergeAlloc : mlir::PassWrapper<MergeAlloc, mlir::OperationPass<mlir::ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MergeAlloc)

  MergeAlloc() = default;
  MergeAlloc(const MergeAlloc &other) : PassWrapper(other) {}

  llvm::StringRef getArgument() const final { return "memplan-merge-alloc"; }
  llvm::StringRef getDescription() const final { return "One allocation per scope and memory space, planned by memplan"; }

  // The new program has these even if the old one had not.
  void getDependentDialects(mlir::DialectRegistry &registry) const final {
    registry.insert<mlir::memref::MemRefDialect, mlir::arith::ArithDialect>();
  }

  Option<std::string> options{*this, "options", llvm::cl::desc("Options of memplan's merge-alloc"), llvm::cl::init("")};

  void runOnOperation() final {
    mlir::ModuleOp module = getOperation();
    std::string before;
    llvm::raw_string_ostream(before) << module;
    std::string pass = "merge-alloc{" + options + "}";

    char *after = nullptr;
    memplan_status status = memplan_rewrite(before.data(), before.size(), pass.c_str(), nullptr, &after);
    if (status != MEMPLAN_OPTIMAL) {
      module.emitError() << "memplan: " << memplan_status_name(status) << ": " << memplan_last_error();
      return signalPassFailure();
    }
    auto rewritten = mlir::parseSourceString<mlir::ModuleOp>(after, mlir::ParserConfig(&getContext()));
    memplan_free_text(after);
    if (!rewritten)
      return signalPassFailure();
    module.getBodyRegion().takeBody(rewritten->getBodyRegion());
  }
};

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK mlir::PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Memplan", memplan_version(), [] { mlir::PassRegistration<MergeAlloc>(); }};
}
