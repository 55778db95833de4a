//! Options of the pass, with the names of the original.

use memplan_planner::strategy::levels::Order;

use crate::pass::{PassOptions, SpecError};

/// Which memory is planned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemoryMode {
    /// On-chip buffers: `memref.alloc`.
    #[default]
    Local,
    /// Workspaces in global memory: `memref_ext.alloc_workspace`.
    Workspace,
}

/// Which of the original's two passes is followed where they differ: in the text of the message that a kernel does
/// not fit, and in whether certain multi-buffers are kept apart (see `coalesce`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// `-hivm-plan-memory`.
    #[default]
    MemoryBased,
    /// `-hivm-plan-memory-regbase`.
    RegisterBased,
}

/// Options of the pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// `mem-plan-mode`: which memory is planned.
    pub mode: MemoryMode,
    /// `enable-global-workspace-reuse`: whether workspaces may share memory.
    pub reuse_workspace: bool,
    /// `restrict-inplace-as-isa`: whether only ops that are a single instruction work in place.
    pub restrict_in_place: bool,
    /// `plan-memory-strategy`: the order in which buffers are placed when memory is short.
    pub order: Order,
    /// `simt-vf-dynamic-size`: the capacity of the unified buffer for functions in SIMT or MIX mode, in KiB.
    pub vector_function_memory: u64,
    /// `disable-tightly-coupled-buffer-reuse`: whether buffers that are shared with the other core share bytes with
    /// no other buffer.
    pub coupled_apart: bool,
    /// `disable-vf-reachable-check`: whether vector functions in a loop work in place even between a load and a store.
    pub ignore_reachability: bool,
    /// `enable-memory-display`: whether to write the plan as JSON files.
    pub display: bool,
    /// `enable-print-memory-allocated-size`: whether to say how much of each memory is used.
    pub print_size: bool,
    /// `profile`: which of the original's two passes to follow.
    pub profile: Profile,
    /// `target`: a built-in device.
    pub target: Option<String>,
    /// `insert-workspace-size`: add the function that reports the workspace's size.
    pub size_function: bool,
    /// `wait-weight`: how much more a wait counts for each loop around it, where a strategy looks at waits.
    pub wait_weight: u64,
    /// `compat`: plan by levels alone, as the original does, unless a strategy is named.
    pub compat: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            mode: MemoryMode::Local,
            reuse_workspace: false,
            restrict_in_place: false,
            order: Order::Start,
            vector_function_memory: 216,
            coupled_apart: false,
            ignore_reachability: false,
            display: false,
            print_size: false,
            profile: Profile::MemoryBased,
            target: None,
            size_function: true,
            wait_weight: 8,
            compat: false,
        }
    }
}

/// Every option with what it does.
pub const OPTIONS: &[(&str, &str)] = &[
    ("mem-plan-mode=local-mem-plan|global-work-space-plan", "on-chip buffers, or workspaces in global memory"),
    ("enable-global-workspace-reuse", "workspaces whose lives are apart share memory"),
    ("insert-workspace-size=true", "add the host function that reports the size of a kernel's workspace"),
    ("restrict-inplace-as-isa", "work in place only where a single instruction does"),
    ("plan-memory-strategy=default|largest-first", "the order of placement when memory is short"),
    ("simt-vf-dynamic-size=216", "KiB of the unified buffer for functions in SIMT or MIX mode"),
    ("disable-tightly-coupled-buffer-reuse", "buffers shared with the other core share with nobody else"),
    ("disable-vf-reachable-check", "vector functions work in place between a load and a store, too"),
    ("enable-memory-display", "write memory_info.json: every buffer with offsets and life"),
    ("enable-print-memory-allocated-size", "say how much of the unified buffer is used"),
    ("profile=membase|regbase", "which of the two original passes to follow where they differ"),
    ("wait-weight=8", "how many waits outside of a loop weigh as much as one inside"),
    ("compat", "plan by levels alone, as the original does, even where other addresses save waits"),
    ("target=NAME", "a built-in device, if the module names none"),
];

impl Options {
    /// The option of this name that is on or off, with the name as messages spell it.
    fn switch(&mut self, key: &str) -> Option<(&'static str, &mut bool)> {
        let switches = [
            ("enable-global-workspace-reuse", &mut self.reuse_workspace),
            ("insert-workspace-size", &mut self.size_function),
            ("restrict-inplace-as-isa", &mut self.restrict_in_place),
            ("disable-tightly-coupled-buffer-reuse", &mut self.coupled_apart),
            ("disable-vf-reachable-check", &mut self.ignore_reachability),
            ("enable-memory-display", &mut self.display),
            ("enable-print-memory-allocated-size", &mut self.print_size),
            ("compat", &mut self.compat),
        ];
        switches.into_iter().find(|(name, _)| *name == key)
    }

    /// Reads the options as written.
    pub fn parse(options: &PassOptions) -> Result<Options, SpecError> {
        let mut parsed = Options::default();
        for (key, value) in options.iter() {
            if let Some((name, switch)) = parsed.switch(key) {
                // A switch without a value (`compat`) is on; it may also be written `compat=false`.
                *switch = PassOptions::flag(name, value)?;
                continue;
            }
            let text = value.unwrap_or_default();
            // The names are those of the original pass, so that command lines can be taken over as they are.
            match key {
                "mem-plan-mode" => {
                    let names =
                        [("local-mem-plan", MemoryMode::Local), ("global-work-space-plan", MemoryMode::Workspace)];
                    parsed.mode = choice("mem-plan-mode", text, "local-mem-plan or global-work-space-plan", &names)?;
                }
                "plan-memory-strategy" => {
                    let names = [("default", Order::Start), ("largest-first", Order::LargestFirst)];
                    parsed.order = choice("plan-memory-strategy", text, "default or largest-first", &names)?;
                }
                "simt-vf-dynamic-size" => parsed.vector_function_memory = kibibytes(text)?,
                "profile" => {
                    let names = [("membase", Profile::MemoryBased), ("regbase", Profile::RegisterBased)];
                    parsed.profile = choice("profile", text, "membase or regbase", &names)?;
                }
                "wait-weight" => parsed.wait_weight = weight(text)?,
                "target" => parsed.target = Some(text.to_owned()),
                _ => {
                    let known: Vec<&str> =
                        OPTIONS.iter().map(|(name, _)| name.split('=').next().unwrap_or(name)).collect();
                    return Err(PassOptions::unknown("plan-memory", key, &known));
                }
            }
        }
        Ok(parsed)
    }
}

/// The value that belongs to one of some names, such as `membase` and `regbase`; an error that says what is
/// `expected` for any other text.
fn choice<T: Copy>(
    option: &'static str,
    text: &str,
    expected: &'static str,
    names: &[(&str, T)],
) -> Result<T, SpecError> {
    let found = names.iter().find(|(name, _)| *name == text).map(|(_, value)| *value);
    found.ok_or_else(|| SpecError::Value { option, expected, found: text.to_owned() })
}

/// A number of KiB, at most 2^32, so that the bytes fit into 64 bits.
fn kibibytes(text: &str) -> Result<u64, SpecError> {
    let value = text.parse::<u64>().ok().filter(|&value| value <= 1 << 32);
    value.ok_or_else(|| SpecError::Value {
        option: "simt-vf-dynamic-size",
        expected: "a number of KiB",
        found: text.to_owned(),
    })
}

/// How much more a wait counts for each loop around it: at most 2^20, so that products stay small.
fn weight(text: &str) -> Result<u64, SpecError> {
    let value = text.parse::<u64>().ok().filter(|&value| (1..=1 << 20).contains(&value));
    value.ok_or_else(|| SpecError::Value {
        option: "wait-weight",
        expected: "a number from 1 to 1048576",
        found: text.to_owned(),
    })
}
