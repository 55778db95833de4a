//! The command line: what can be asked and how.
//!
//! The crate `clap` makes a parser of these types. The documentation of a field is its help text, so it is written for
//! users; what only a reader of the code needs is in other comments.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::{Parser, Subcommand, ValueEnum};
use memplan::core::Bytes;
use memplan::driver::How;
use memplan::format::FORMATS;
use memplan::pass::PassSpec;
use memplan::planner::{Assign, Effort, Observer, Request, STRATEGIES};
use memplan::target::{SpaceFacts, Target, parse_alignment};

/// Decides, before a program runs, where every one of its buffers lives.
///
/// memplan reads a tensor program or a list of buffer lifetimes, gives every buffer an
/// address, proves the answer with a checker that shares no code with the planner, and
/// draws it.
#[derive(Debug, Parser)]
#[command(name = "memplan", version = env!("MEMPLAN_VERSION"), propagate_version = true, max_term_width = 100)]
#[command(after_help = "Exit codes: 0 fine; 1 the answer is no (does not fit, none found in time, violations found);
2 wrong usage or unreadable input; 101 a bug; 130 ended by Ctrl-C without a result.

Try it:
  memplan plan                          an example, with a picture in memplan-map.html
  memplan compare                       every strategy on the same example
  memplan plan buffers.csv -o plan.csv  your own buffers")]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Plan: give every buffer a place
    #[command(after_help = PLAN_EXAMPLES)]
    Plan(PlanArgs),
    /// Run every strategy and compare what they need
    #[command(after_help = COMPARE_EXAMPLES)]
    Compare(CompareArgs),
    /// Check a plan, ours or another tool's, and list everything that is wrong with it
    #[command(after_help = VERIFY_EXAMPLES)]
    Verify(VerifyArgs),
    /// Draw a plan: a memory map (HTML, SVG, terminal), a trace for Perfetto, a PyTorch snapshot
    #[command(after_help = SHOW_EXAMPLES)]
    Show(ShowArgs),
    /// Print an intermediate value as text
    #[command(after_help = DUMP_EXAMPLES)]
    Dump(DumpArgs),
    /// Rewrite a program with the addresses of its buffers in it
    #[command(after_help = OPT_EXAMPLES)]
    Opt(OptArgs),
    /// Run a TVMScript program and print what its buffers hold at the end
    #[command(after_help = RUN_EXAMPLES)]
    Run(RunArgs),
    /// Shrink an input while a command keeps failing on it: a bug report in one step
    #[command(after_help = REDUCE_EXAMPLES)]
    Reduce(ReduceArgs),
    /// Change a model until it fits: execute it patch by patch, put its ops into another order
    #[command(after_help = FIT_EXAMPLES)]
    Fit(FitArgs),
    /// Look for an order of a model's ops in which less is alive at once
    #[command(after_help = REORDER_EXAMPLES)]
    Reorder(ReorderArgs),
    /// Explain why it does not fit, or why the plan is no smaller
    #[command(after_help = EXPLAIN_EXAMPLES)]
    Explain(ExplainArgs),
    /// Measure: the scoreboard of a corpus of instances
    #[command(after_help = BENCH_EXAMPLES)]
    Bench(BenchArgs),
    /// List the strategies
    Strategies,
    /// List the formats of input files
    Formats,
    /// List the passes of `memplan opt` with their options
    Passes,
    /// Print a completion script for a shell
    #[command(after_help = "Example:\n  memplan completions bash > ~/.local/share/bash-completion/completions/memplan")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    #[command(after_help = "Example:\n  memplan manpage | man -l -")]
    Manpage,
}

const PLAN_EXAMPLES: &str = "Examples:
  memplan plan                                      a built-in example, drawn to memplan-map.html
  memplan plan buffers.csv                          the smallest extent that is found quickly
  memplan plan buffers.csv --capacity 256KiB        does it fit? exit code 1 and a reason if not
  memplan plan buffers.csv --align 64 -o plan.csv   every offset a multiple of 64
  memplan plan model.tflite --capacity 256KiB -o planned.tflite
                                                    the plan inside the model
  memplan plan model.onnx --dim batch=1
  memplan plan model.tflite --space sram=256KiB:16 --space psram=8MiB:16
  generate | memplan plan - --format trace --json > plan.json";

const COMPARE_EXAMPLES: &str = "Examples:
  memplan compare                       the built-in MobileNet v2
  memplan compare buffers.csv --assign objects
  memplan compare buffers.csv --json";

const VERIFY_EXAMPLES: &str = "Examples:
  memplan verify buffers.csv plan.json
  memplan verify buffers.csv theirs.csv --offset-column address
  memplan verify kernel.mlir plan.json              also follows the program's reads and writes
  memplan verify buffers.csv plan.csv --capacity 1MiB --align 64";

const SHOW_EXAMPLES: &str = "Examples:
  memplan show buffers.csv -o map.html             plan, then draw
  memplan show buffers.csv plan.csv -o map.svg     draw a given plan
  memplan show buffers.csv a.json b.json -o map.html   two plans side by side
  memplan show buffers.csv --term                  right here
  memplan show buffers.csv --watch -o map.html     again whenever buffers.csv changes
  memplan show buffers.csv -o trace.json           open it in ui.perfetto.dev
  memplan show buffers.csv -o snapshot.pickle      open it in PyTorch's memory viewer";

const EXPLAIN_EXAMPLES: &str = "Examples:
  memplan explain buffers.csv --capacity 256KiB     which buffers cannot be together
  memplan explain buffers.csv                       which buffers keep the plan from being smaller";

const BENCH_EXAMPLES: &str = "Examples:
  memplan bench corpus                              fails if an extent is worse than the best known
  memplan bench corpus --dir ~/instances --effort quick
  memplan bench ablation --only generated           what each stage of the search is good for";

const DUMP_EXAMPLES: &str = "Examples:
  memplan dump buffers.csv --stage problem > problem.json
  memplan dump kernel.mlir --stage program
  memplan dump buffers.csv --stage plan -s greedy-by-size
  memplan dump net.te.json --stage schedule-ops";

const RUN_EXAMPLES: &str = "Examples:
  memplan run prog.py --seed 7
  memplan opt prog.py --pass storage-rewrite | memplan run - --seed 7     the same results";

const OPT_EXAMPLES: &str = "Examples:
  memplan opt net.mlir --pass merge-alloc -o merged.mlir
  memplan opt net.mlir --pass 'merge-alloc{alignment=128}' -s auto --stats > merged.mlir
  mlir-opt -one-shot-bufferize net.mlir | memplan opt - --pass merge-alloc | mlir-opt -cse
  memplan opt net.mlir --pass 'merge-alloc{analysis-only}'
  memplan opt kernel.mlir --pass plan-memory --map map.html -o planned.mlir     with a picture";

const REDUCE_EXAMPLES: &str = "Examples:
  memplan reduce bad.csv -- memplan plan -s search
  memplan reduce bad.mlir -o small.mlir -- sh -c 'memplan opt {} --pass merge-alloc | mlir-opt'";

const REORDER_EXAMPLES: &str = "Examples:
  memplan reorder model.onnx --dim batch=1          peak before and after
  memplan reorder model.tflite --reuse-inputs -o reordered.tflite";

const FIT_EXAMPLES: &str = "Examples:
  memplan fit model.tflite                          what less memory costs, step by step
  memplan fit model.tflite --capacity 256KiB -o fitted.tflite";

/// Which file is read, and as what.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct FormatArgs {
    /// Format of FILE, one of `memplan formats`; found out by name and content if not given
    #[arg(long, value_name = "NAME", hide_possible_values = true, value_parser = PossibleValuesParser::new(FORMATS.iter().map(|format| format.name())))]
    pub(crate) format: Option<String>,
    /// Which problem to read of a `dsa` file that holds several
    #[arg(long, value_name = "ID")]
    pub(crate) instance: Option<String>,
    /// What the ops of your own MLIR dialects do, in TOML; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) dialect: Vec<String>,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
}

/// What is to be assumed about a model.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Models")]
pub(crate) struct ModelArgs {
    /// Value of a symbolic dimension, as in batch=1; may be repeated
    #[arg(long, value_name = "NAME=N", value_parser = parse_dimension)]
    pub(crate) dim: Vec<(String, u64)>,
    /// Dimensions that a tensor of an ONNX model has at most, as in found=100x4, where the content of others decides; may be repeated
    #[arg(long, value_name = "NAME=N", value_parser = parse_size)]
    pub(crate) size: Vec<(String, Vec<u64>)>,
    /// Scratch memory of the operators of a .tflite model, in TOML; `none` to leave it out
    /// [default: what the reference kernels of TensorFlow Lite Micro need]
    #[arg(long, value_name = "FILE")]
    pub(crate) scratch: Option<String>,
    /// Let later tensors take the place of inputs that are not read any more
    #[arg(long)]
    pub(crate) reuse_inputs: bool,
    /// Let outputs take the place of the inputs they are computed from, element by element
    #[arg(long)]
    pub(crate) in_place: bool,
}

/// Reads `batch=1`. A name may itself contain `=`, so the last one divides.
fn parse_dimension(text: &str) -> Result<(String, u64), String> {
    let parts = text.rsplit_once('=').and_then(|(name, value)| Some((name.to_owned(), value.parse().ok()?)));
    parts.ok_or_else(|| format!("`{text}` is not a dimension and its value, such as batch=1"))
}

/// Reads `found=100x4`. A name may itself contain `=`, so the last one divides.
fn parse_size(text: &str) -> Result<(String, Vec<u64>), String> {
    let parts = text.rsplit_once('=').and_then(|(name, shape)| {
        let shape = shape.split('x').map(|dimension| dimension.parse().ok()).collect::<Option<_>>()?;
        Some((name.to_owned(), shape))
    });
    parts.ok_or_else(|| format!("`{text}` is not a tensor and its dimensions, such as found=100x4"))
}

/// What the memory is like.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Target")]
pub(crate) struct TargetArgs {
    /// Make every offset a multiple of N bytes
    #[arg(long, value_name = "N", value_parser = parse_alignment)]
    align: Option<Bytes>,
    /// Capacity of the memory, for a .tflite model of its whole arena: 65536, 256KiB, 1.5MiB
    #[arg(long, value_name = "SIZE")]
    capacity: Option<Bytes>,
    /// Capacity and alignment of one memory space, as in sram=256KiB:16; may be repeated
    #[arg(long, value_name = "NAME=CAP:ALIGN")]
    space: Vec<SpaceFacts>,
}

impl TargetArgs {
    /// The alignment as a number, for stages that take one.
    pub(crate) fn align(&self) -> Option<u64> {
        self.align.map(|align| align.0)
    }

    /// All of it, as the library takes it.
    pub(crate) fn target(&self) -> Target {
        Target { align: self.align, capacity: self.capacity, spaces: self.space.clone() }
    }
}

/// How to plan.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Planning")]
pub(crate) struct StrategyArgs {
    /// How to plan, one of `memplan strategies`
    #[arg(short, long, value_name = "STRATEGY", default_value = "auto", hide_possible_values = true)]
    #[arg(value_parser = PossibleValuesParser::new(STRATEGIES.iter().map(|strategy| strategy.name())))]
    pub(crate) strategy: String,
    /// Give every buffer an offset, or a shared object that it uses as a whole
    #[arg(long, value_name = "KIND", default_value = "offsets")]
    pub(crate) assign: AssignArg,
    /// Say what each stage of the search has achieved, and when the plan was made and checked
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// Leave a stage of the search out; may be repeated
    #[arg(long, value_name = "STAGE", hide_possible_values = true)]
    #[arg(value_parser = PossibleValuesParser::new(memplan::planner::search::switches()))]
    pub(crate) without: Vec<String>,
    #[command(flatten)]
    pub(crate) budget: BudgetArgs,
}

/// How long to search.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Planning")]
pub(crate) struct BudgetArgs {
    /// How much to search; the plan does not depend on the machine or on how busy it is
    #[arg(long, value_name = "EFFORT", default_value = "normal")]
    pub(crate) effort: EffortArg,
    /// Stop after this time, at most half a second late, or half a second after the first plan: 500ms, 10s, 2m
    #[arg(long, value_name = "DUR", value_parser = parse_duration)]
    pub(crate) time_limit: Option<Duration>,
    /// Search for N units of work, about 4 µs each, instead of what the effort says
    #[arg(long, value_name = "N")]
    pub(crate) work: Option<u64>,
    /// Seed for strategies that draw random numbers
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Fail if a check rejects a plan, instead of planning again with the buffers it names kept apart; also with
    /// MEMPLAN_STRICT in the environment
    #[arg(long)]
    pub(crate) strict: bool,
}

impl BudgetArgs {
    /// How to plan with the strategy that a front end chooses.
    pub(crate) fn how<'a>(&self, observer: Option<&'a dyn Observer>) -> How<'a> {
        let request = Request {
            seed: self.seed,
            effort: self.effort.into(),
            time_limit: self.time_limit,
            work_limit: self.work,
            observer,
            ..Request::default()
        };
        // A whole script can be made strict by its environment.
        let strict = self.strict || How::strict_in_environment();
        How { request, strict, ..How::default() }
    }
}

/// How much to look for something smaller once there is a plan.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum EffortArg {
    Quick,
    Normal,
    Thorough,
}

impl From<EffortArg> for Effort {
    fn from(arg: EffortArg) -> Effort {
        match arg {
            EffortArg::Quick => Effort::Quick,
            EffortArg::Normal => Effort::Normal,
            EffortArg::Thorough => Effort::Thorough,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum AssignArg {
    Offsets,
    Objects,
}

impl From<AssignArg> for Assign {
    fn from(arg: AssignArg) -> Assign {
        match arg {
            AssignArg::Offsets => Assign::Offsets,
            AssignArg::Objects => Assign::Objects,
        }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct PlanArgs {
    /// File to plan, `-` for standard input; without it a built-in example
    pub(crate) file: Option<String>,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    #[command(flatten)]
    pub(crate) strategy: StrategyArgs,
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Repair this plan, made before a small change, and keep as many offsets as possible
    #[arg(long, value_name = "OLD_PLAN", help_heading = "Planning")]
    pub(crate) warm: Option<String>,
    /// Also plan with less and less memory, and say what the reuse then costs (`reuse_costs`)
    #[arg(long, help_heading = "Planning")]
    pub(crate) trade_off: bool,
    #[command(flatten)]
    pub(crate) output: PlanOutputArgs,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct PlanOutputArgs {
    /// Print the plan as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the plan to plan.json, plan.csv, plan.h (constants for C), plan.dsa.json (a solution of a dsa problem) or, for
    /// a .tflite model, into a copy of it
    #[arg(short, long, value_name = "PLAN", conflicts_with = "json")]
    pub(crate) output: Option<PathBuf>,
    /// Draw the plan to map.html or map.svg
    #[arg(long, value_name = "MAP")]
    pub(crate) map: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CompareArgs {
    /// File to plan, `-` for standard input; without it a built-in example
    pub(crate) file: Option<String>,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    /// Only plans of this kind; without it every kind a strategy can make
    #[arg(long, value_name = "KIND", help_heading = "Planning")]
    pub(crate) assign: Option<AssignArg>,
    #[command(flatten)]
    pub(crate) budget: BudgetArgs,
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Print the comparison as JSON
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExplainArgs {
    /// File to explain, `-` for standard input; without it a built-in example
    pub(crate) file: Option<String>,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    #[command(flatten)]
    pub(crate) budget: BudgetArgs,
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Print the explanation as JSON. The `capacity` of its obstacle is that of the space or, if everything fits, a byte
    /// less than the plan needs
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    pub(crate) what: BenchWhat,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BenchWhat {
    /// Plan every instance of a corpus and compare with the best known extents
    Corpus(CorpusArgs),
    /// Plan every instance of a corpus once more without each stage of the search
    Ablation(CorpusArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct CorpusArgs {
    /// The corpus: a folder with instances and best.csv
    #[arg(long, value_name = "DIR", default_value = "corpus")]
    pub(crate) corpus: PathBuf,
    /// A further folder of instances; may be repeated. MEMPLAN_INSTANCES may name another
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Vec<PathBuf>,
    /// Only instances with this in their name
    #[arg(long, value_name = "TEXT")]
    pub(crate) only: Option<String>,
    #[command(flatten)]
    pub(crate) budget: BudgetArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct VerifyArgs {
    /// File the plan is for, `-` for standard input
    pub(crate) file: String,
    /// The plan: plan.json, or a CSV with the columns `id` and `offset`
    pub(crate) plan: String,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    #[command(flatten)]
    pub(crate) offsets: OffsetArgs,
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Print the violations as JSON
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

/// How to read the offsets of a plan.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct OffsetArgs {
    /// Column with the offsets in a plan that is a CSV [default: offset]
    #[arg(long, value_name = "NAME")]
    pub(crate) offset_column: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ShowArgs {
    /// File to draw, `-` for standard input
    pub(crate) file: String,
    /// The plan: plan.json, or a CSV with an `offset` column; without it one is made, and
    /// several are compared on one page
    #[arg(value_name = "PLAN")]
    pub(crate) plans: Vec<String>,
    /// Where to draw: map.html, map.svg, trace.json (Perfetto), snapshot.pickle (PyTorch) or plan.csv
    #[arg(short, long, value_name = "PICTURE", conflicts_with = "term")]
    pub(crate) output: Option<PathBuf>,
    /// Draw with characters, as large as the terminal
    #[arg(long)]
    pub(crate) term: bool,
    /// Draw again whenever FILE or PLAN changes
    #[arg(long)]
    pub(crate) watch: bool,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    #[command(flatten)]
    pub(crate) offsets: OffsetArgs,
    #[command(flatten)]
    pub(crate) strategy: StrategyArgs,
    #[command(flatten)]
    pub(crate) target: TargetArgs,
}

/// The scopes `opt --stats` lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scopes {
    /// Those with the most bytes.
    Largest,
    /// Each of them.
    All,
}

#[derive(Debug, clap::Args)]
pub(crate) struct OptArgs {
    /// Program to rewrite, `-` for standard input
    pub(crate) file: String,
    /// Pass to run, with its options in braces; several run one after the other
    #[arg(long = "pass", value_name = "NAME{KEY=VALUE …}", required = true)]
    pub(crate) passes: Vec<PassSpec>,
    /// Where to write the new program; standard output if not given
    #[arg(short, long, value_name = "OUT", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Draw what a pass that plans on-chip memory has planned: map.html or map.svg
    #[arg(long, value_name = "MAP", help_heading = "Output")]
    pub(crate) map: Option<PathBuf>,
    /// Print bytes before and after to standard error, for the largest scopes or for `all`
    #[arg(long, value_name = "WHICH", num_args = 0..=1, require_equals = true, default_missing_value = "largest")]
    #[arg(hide_possible_values = true, help_heading = "Output")]
    pub(crate) stats: Option<Scopes>,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    /// Plan with this strategy instead of the pass's own planner
    #[arg(short, long, value_name = "STRATEGY", hide_possible_values = true, help_heading = "Planning")]
    #[arg(value_parser = PossibleValuesParser::new(STRATEGIES.iter().map(|strategy| strategy.name())))]
    pub(crate) strategy: Option<String>,
    /// Device for passes that plan on-chip memory: a built-in name, or a .toml file
    #[arg(long, value_name = "NAME|FILE", help_heading = "Planning")]
    pub(crate) target: Option<String>,
    /// Say when the plan was made, checked and written
    #[arg(short, long, help_heading = "Planning")]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) budget: BudgetArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// Program to run, `-` for standard input
    pub(crate) file: String,
    /// Determines what the argument buffers hold at the start
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Value of a scalar parameter; small numbers if not given
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = parse_scalar)]
    pub(crate) scalars: Vec<(String, i64)>,
    /// Of tensor expressions: at which stage to run (graph, schedule-ops, primfunc, flat, prepared, rewritten)
    #[arg(long, value_name = "STAGE", default_value = "graph")]
    pub(crate) stage: String,
}

/// Reads `n=8`.
fn parse_scalar(text: &str) -> Result<(String, i64), String> {
    let parts = text.split_once('=').and_then(|(name, value)| Some((name.to_owned(), value.parse().ok()?)));
    parts.ok_or_else(|| format!("`{text}` is not a parameter and its value, such as n=8"))
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReduceArgs {
    /// Input to shrink
    pub(crate) file: PathBuf,
    /// Where to write the smaller input [default: FILE with .reduced before its extension]
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Give up on a run of the command after this time
    #[arg(long, value_name = "DUR", default_value = "60s", value_parser = parse_duration)]
    pub(crate) timeout: Duration,
    /// The command that fails; `{}` in it stands for the input, which otherwise comes last
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReorderArgs {
    /// Model to reorder: .tflite or .onnx
    pub(crate) file: String,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    /// Sets of ops of each size that the search keeps; more may find a better order
    #[arg(long, value_name = "N", help_heading = "Planning")]
    pub(crate) width: Option<usize>,
    /// Write the model with its ops in the new order
    #[arg(short, long, value_name = "OUT", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Print peaks and order as JSON
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct FitArgs {
    /// Model to change: .tflite, .onnx
    pub(crate) file: String,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    /// What the runtime may need: 262144, 256KiB, 1.5MiB
    #[arg(long, value_name = "SIZE", help_heading = "Memory")]
    pub(crate) capacity: Option<Bytes>,
    /// What counts of the memory
    #[arg(long, value_name = "WHAT", default_value = "arena", help_heading = "Memory")]
    pub(crate) count: CountArg,
    /// A memory, as in sram=256KiB; given twice, the first is for tensors and the second for the runtime's records
    #[arg(long, value_name = "NAME=CAP", conflicts_with_all = ["capacity", "count"], help_heading = "Memory")]
    pub(crate) space: Vec<SpaceFacts>,
    /// Make no other changes than these
    #[arg(long, value_name = "KIND", value_delimiter = ',', conflicts_with = "forbid", help_heading = "Changes")]
    pub(crate) allow: Vec<ChangeArg>,
    /// Do not make these changes
    #[arg(long, value_name = "KIND", value_delimiter = ',', help_heading = "Changes")]
    pub(crate) forbid: Vec<ChangeArg>,
    #[command(flatten)]
    pub(crate) budget: BudgetArgs,
    /// Write the changed model, a .tflite with a plan inside; without --capacity, the smallest one
    #[arg(short, long, value_name = "OUT", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Draw the trade-off: chart.svg or chart.html
    #[arg(long, value_name = "OUT", help_heading = "Output")]
    pub(crate) chart: Option<PathBuf>,
    /// Print the versions of the model as JSON
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

/// What counts of the memory that a runtime needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CountArg {
    /// All of the arena
    Arena,
    /// Tensors and scratch memory; the runtime keeps its records in an arena of their own
    Tensors,
}

/// A kind of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ChangeArg {
    /// Ops in another order
    Reorder,
    /// Ops that run again for late readers
    Recompute,
    /// Chains of ops executed tile by tile
    Patches,
    /// Inputs that are overwritten once nobody reads them any more
    InputReuse,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DumpArgs {
    /// File to read, `-` for standard input
    pub(crate) file: String,
    /// Which value
    #[arg(long)]
    pub(crate) stage: Stage,
    /// Of tensor expressions: decide as TVM does, and fail where it fails
    #[arg(long)]
    pub(crate) compat: bool,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    #[command(flatten)]
    pub(crate) strategy: StrategyArgs,
    #[command(flatten)]
    pub(crate) target: TargetArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Stage {
    /// The program as memplan understands it
    Program,
    /// Which values are which buffers
    Aliases,
    /// When each buffer is alive
    Lifetimes,
    /// Buffers and spaces, as JSON that can be read again
    Problem,
    /// Where each buffer is
    Plan,
    /// Events in the order of time, as a .trace that can be read again
    Trace,
    /// Usage records: buffers and breadth of each task, positional maxima
    Profiles,
    /// TVMScript: the linear sequence with its nested scopes
    Sequence,
    /// TVMScript: the statements that generate and kill buffers
    Events,
    /// TVMScript or tensor expressions: storage entries and allocations
    Storage,
    /// Networks of top and tpu ops: the documented table of tensors after each step
    ReuseTable,
    /// Tensor expressions: operations, who reads what, and what feeds whom
    Graph,
    /// Tensor expressions: stages before and after normalisation
    Schedule,
    /// Tensor expressions: how much of each operation is needed
    Bounds,
    /// Tensor expressions: loops over tensors
    ScheduleOps,
    /// Tensor expressions: the same over buffers, as a function
    Primfunc,
    /// Tensor expressions: the same in one dimension
    Flat,
    /// Tensor expressions: with lanes and double buffers
    Prepared,
    /// Tensor expressions: with shared memory
    Rewritten,
    /// Tensor expressions: everything that was decided, as JSON
    Facts,
}

impl Stage {
    /// The stage's name in the life cycle of tensors, if it is one of it.
    pub(crate) fn of_tensors(self) -> Option<&'static str> {
        Some(match self {
            Stage::Storage => "storage",
            Stage::Graph => "graph",
            Stage::Schedule => "schedule",
            Stage::Bounds => "bounds",
            Stage::ScheduleOps => "schedule-ops",
            Stage::Primfunc => "primfunc",
            Stage::Flat => "flat",
            Stage::Prepared => "prepared",
            Stage::Rewritten => "rewritten",
            Stage::Facts => "facts",
            _ => return None,
        })
    }
}

/// Reads `500ms`, `10s`, `2m` or `2min`, `1h`; a bare number is seconds.
fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is not a time: expected 500ms, 10s, 2m or 1h");
    // Where the number ends and the unit begins.
    let digits = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let scale = match unit.trim() {
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(wrong()),
    };
    let number: f64 = number.parse().map_err(|_| wrong())?;
    Duration::try_from_secs_f64(number * scale).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        <Args as clap::CommandFactory>::command().debug_assert();
    }

    #[test]
    fn times_read_as_people_write_them() {
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_duration("1.5"), Ok(Duration::from_millis(1500)));
        assert_eq!(parse_duration("2m"), Ok(Duration::from_secs(120)));
        for wrong in ["", "s", "-1s", "1 parsec", "1e400", "99999999999999999999999h"] {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
    }
}
