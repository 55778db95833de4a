//! The structs of the header, and how they are read from callers of any age.
//!
//! A caller compiled against an older header has shorter structs: fields are only
//! ever added at the end. Each struct says its size, so we copy that many bytes over
//! a default and never read or write bytes that the caller does not have. A caller
//! compiled against a newer header has longer structs, of which we copy what we know.

use std::ffi::{c_char, c_void};
use std::marker::PhantomData;

use crate::error::Failure;

/// In `flags` of a buffer: `fixed_offset` says where it must lie.
pub const MEMPLAN_FIXED_OFFSET: u32 = 1;

/// In `flags` of a buffer: it shares its bytes with no other buffer, not even at other times.
pub const MEMPLAN_EXCLUSIVE: u32 = 2;

/// In `flags` of a space: `capacity` says how many bytes there are.
pub const MEMPLAN_CAPACITY: u32 = 1;

/// In `flags` of options: a plan that a check rejects is a failure, `MEMPLAN_BUG`, and is not made again. The variable
/// `MEMPLAN_STRICT` in the environment sets it for every call.
pub const MEMPLAN_STRICT: u32 = 1;

/// An effort: about a second of work after the first plan.
pub const MEMPLAN_NORMAL: u32 = 0;

/// An effort: a tenth of that.
pub const MEMPLAN_QUICK: u32 = 1;

/// An effort: about a minute; no other strategy is better.
pub const MEMPLAN_THOROUGH: u32 = 2;

/// A kind of relation: `buffer` may start on bytes that `other` still occupies, both at the same offset. Where a plan
/// makes use of it, the life of `other` on these bytes ends when `buffer` starts.
pub const MEMPLAN_MAY_OVERLAY: u32 = 0;

/// A kind of relation: as `MEMPLAN_MAY_OVERLAY`, at any offset.
pub const MEMPLAN_MAY_OVERLAY_ANYWHERE: u32 = 1;

/// A kind of relation: both start at the same offset of the same space.
pub const MEMPLAN_MUST_SHARE: u32 = 2;

/// A kind of relation: they have no byte in common, whatever their lives.
pub const MEMPLAN_MUST_NOT_SHARE: u32 = 3;

/// One stretch of a buffer's life.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct IntervalDescription {
    /// First step at which the buffer is alive.
    pub start: u64,
    /// First step at which it is no longer alive.
    pub end: u64,
    /// First byte of the buffer that is in use during this stretch.
    pub low: u64,
    /// One past the last byte in use; with 0 in both, all bytes are in use.
    pub high: u64,
}

/// How two buffers relate.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct RelationDescription {
    /// `MEMPLAN_MAY_OVERLAY`, `MEMPLAN_MAY_OVERLAY_ANYWHERE`, `MEMPLAN_MUST_SHARE` or `MEMPLAN_MUST_NOT_SHARE`.
    pub kind: u32,
    /// Index of a buffer.
    pub buffer: u32,
    /// Index of the other buffer.
    pub other: u32,
    /// Must be 0.
    pub reserved: u32,
}

/// What it costs if two buffers have a byte in common.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ReuseCostDescription {
    /// Index of a buffer.
    pub buffer: u32,
    /// Index of another buffer.
    pub other: u32,
    /// The price.
    pub weight: u64,
}

/// One buffer. Zero is fine for whatever is not wanted: a buffer of zeroes may lie anywhere.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct BufferDescription {
    /// Bytes; 0 is legal.
    pub size: u64,
    /// The offset is a multiple of this; 0 counts as 1.
    pub alignment: u64,
    /// First step at which it is alive.
    pub start: u64,
    /// First step at which it is no longer alive: lifetimes are half-open. Equal to `start`: never alive.
    pub end: u64,
    /// Offset it must have, if `flags` has `MEMPLAN_FIXED_OFFSET`.
    pub fixed_offset: u64,
    /// Index of its space.
    pub space: u32,
    /// 0, or the sum of `MEMPLAN_FIXED_OFFSET` and `MEMPLAN_EXCLUSIVE`.
    pub flags: u32,
    /// Indices of the spaces it may live in, the best first; null for the one that `space` says.
    pub spaces: *const u32,
    /// How many; with any, `space` is not looked at.
    pub space_count: usize,
    /// The stretches of a life with gaps, in order: between them its bytes may belong to others. Null for a life from
    /// `start` to `end`.
    pub intervals: *const IntervalDescription,
    /// How many; with any, `start` and `end` are not looked at.
    pub interval_count: usize,
    /// Copies that are used in rotation (multi-buffering), each with an offset of its own; 0 counts as 1.
    pub slots: u32,
    /// Must be 0.
    pub reserved: u32,
}

impl Default for BufferDescription {
    fn default() -> BufferDescription {
        BufferDescription {
            size: 0,
            alignment: 0,
            start: 0,
            end: 0,
            fixed_offset: 0,
            space: 0,
            flags: 0,
            spaces: std::ptr::null(),
            space_count: 0,
            intervals: std::ptr::null(),
            interval_count: 0,
            slots: 0,
            reserved: 0,
        }
    }
}

/// One memory space. A space of zeroes has no limit.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct SpaceDescription {
    /// Bytes there are, if `flags` has `MEMPLAN_CAPACITY`.
    pub capacity: u64,
    /// Every offset in it is a multiple of this; 0 counts as 1.
    pub alignment: u64,
    /// Address of offset 0. A multiple of every alignment asked for in this space.
    pub base: u64,
    /// Which fields are set: 0 or `MEMPLAN_CAPACITY`.
    pub flags: u32,
    /// Must be 0.
    pub reserved: u32,
}

/// What has to be placed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ProblemDescription {
    /// `sizeof(memplan_problem)`.
    pub struct_size: usize,
    /// `sizeof(memplan_buffer)`.
    pub buffer_size: usize,
    /// The buffers; may be null if there are none.
    pub buffers: *const BufferDescription,
    /// How many.
    pub buffer_count: usize,
    /// `sizeof(memplan_space)`.
    pub space_size: usize,
    /// The spaces; null for one without capacity or alignment.
    pub spaces: *const SpaceDescription,
    /// How many.
    pub space_count: usize,
    /// `sizeof(memplan_interval)`, if a buffer has any.
    pub interval_size: usize,
    /// `sizeof(memplan_relation)`, if there are any.
    pub relation_size: usize,
    /// The relations; may be null if there are none.
    pub relations: *const RelationDescription,
    /// How many.
    pub relation_count: usize,
    /// `sizeof(memplan_reuse_cost)`, if there are any.
    pub reuse_cost_size: usize,
    /// Pairs that may share bytes at a price: of two plans that fit, the cheaper one is better. May be null if there
    /// are none.
    pub reuse_costs: *const ReuseCostDescription,
    /// How many.
    pub reuse_cost_count: usize,
}

impl Default for ProblemDescription {
    fn default() -> ProblemDescription {
        ProblemDescription {
            struct_size: size_of::<ProblemDescription>(),
            buffer_size: size_of::<BufferDescription>(),
            buffers: std::ptr::null(),
            buffer_count: 0,
            space_size: size_of::<SpaceDescription>(),
            spaces: std::ptr::null(),
            space_count: 0,
            interval_size: size_of::<IntervalDescription>(),
            relation_size: size_of::<RelationDescription>(),
            relations: std::ptr::null(),
            relation_count: 0,
            reuse_cost_size: size_of::<ReuseCostDescription>(),
            reuse_costs: std::ptr::null(),
            reuse_cost_count: 0,
        }
    }
}

/// Asked during a long search, from any thread: non-zero ends it with the best plan so far.
pub type StopCallback = Option<unsafe extern "C" fn(user_data: *mut c_void) -> i32>;

/// How to plan. Zero in every field but the first is the default.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// `sizeof(memplan_options)`.
    pub struct_size: usize,
    /// Name of a strategy, as `memplan strategies` lists them; null for `auto`.
    pub strategy: *const c_char,
    /// Seed for strategies that draw random numbers.
    pub seed: u64,
    /// Milliseconds a search may take at most; 0 for no limit. It only ever cuts a search short.
    pub time_limit_ms: u64,
    /// Units of work, about 4 us each, instead of those of the effort; 0 for what the effort says. Without a time limit
    /// the plan is the same on every machine.
    pub work_limit: u64,
    /// Threads to use; 0 for all cores. The plan does not depend on it.
    pub threads: u32,
    /// 0 or `MEMPLAN_STRICT`.
    pub flags: u32,
    /// Ends what is going on when it answers otherwise than 0: a search with its best plan, reading, checking and
    /// writing within half a second and without a result. Null for never. It is asked again and again, from any thread.
    pub should_stop: StopCallback,
    /// Handed to `should_stop`.
    pub user_data: *mut c_void,
    /// How much to search: `MEMPLAN_NORMAL`, `MEMPLAN_QUICK` or `MEMPLAN_THOROUGH`.
    pub effort: u32,
    /// Must be 0.
    pub reserved: u32,
}

/// What is known about a plan. The caller sets `struct_size` and may set the pointers to arrays of its own; zero them
/// otherwise.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Report {
    /// `sizeof(memplan_report)`, set by the caller.
    pub struct_size: usize,
    /// Bytes the plan needs, summed over the spaces.
    pub extent: u64,
    /// No plan needs less.
    pub lower_bound: u64,
    /// From `memplan_verify`: how many things are wrong.
    pub violations: u64,
    /// Room for `buffer_count` numbers, or null: the space of each buffer is written here. Needed where a buffer may
    /// live in several.
    pub spaces: *mut u32,
    /// Room for as many numbers as there are spaces, or null: what the plan needs of each is written here.
    pub extents: *mut u64,
    /// Room for `buffer_count` numbers, or null: with `MEMPLAN_INFEASIBLE`, the indices of buffers that cannot fit
    /// together are written here.
    pub witness: *mut u32,
    /// How many buffers the witness has; 0 if there is none.
    pub witness_count: usize,
    /// What the plan's reuse costs: the sum over the pairs with a price that have a byte in common.
    pub cost: u64,
    /// No plan within the capacities costs less.
    pub cost_lower_bound: u64,
    /// Room for `reuse_cost_count` numbers, or null: the positions of the pairs that are paid for are written here.
    pub active: *mut u32,
    /// How many there are.
    pub active_count: usize,
}

impl Default for Report {
    fn default() -> Report {
        Report {
            struct_size: size_of::<Report>(),
            extent: 0,
            lower_bound: 0,
            violations: 0,
            spaces: std::ptr::null_mut(),
            extents: std::ptr::null_mut(),
            witness: std::ptr::null_mut(),
            witness_count: 0,
            cost: 0,
            cost_lower_bound: 0,
            active: std::ptr::null_mut(),
            active_count: 0,
        }
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            struct_size: size_of::<Options>(),
            strategy: std::ptr::null(),
            seed: 0,
            time_limit_ms: 0,
            work_limit: 0,
            threads: 0,
            flags: 0,
            should_stop: None,
            user_data: std::ptr::null_mut(),
            effort: MEMPLAN_NORMAL,
            reserved: 0,
        }
    }
}

/// A struct that says its own size in its first field.
///
/// # Safety
/// Any bytes must be a value of the type, and its first field must be the size, a `usize`.
pub(crate) unsafe trait SaysItsSize: Copy {
    /// Its name in the header, for messages.
    const NAME: &'static str;
    /// The size of the first version: no caller has less.
    const FIRST: usize;
}

// SAFETY: integers and pointers only, the size first.
unsafe impl SaysItsSize for ProblemDescription {
    const NAME: &'static str = "memplan_problem";
    // The first version ended with the spaces.
    const FIRST: usize = std::mem::offset_of!(ProblemDescription, interval_size);
}

// SAFETY: integers, pointers and a nullable function pointer only, the size first.
unsafe impl SaysItsSize for Options {
    const NAME: &'static str = "memplan_options";
    // The first version ended before the effort.
    const FIRST: usize = std::mem::offset_of!(Options, effort);
}

// SAFETY: integers and pointers only, the size first.
unsafe impl SaysItsSize for Report {
    const NAME: &'static str = "memplan_report";
    // The first version ended with the violations.
    const FIRST: usize = std::mem::offset_of!(Report, spaces);
}

/// An element of an array. The caller says how many bytes an element has (the stride), in a field of another struct.
///
/// # Safety
/// Any bytes must be a value of the type.
pub(crate) unsafe trait Element: Copy + Default {
    /// Its name in the header, for messages.
    const NAME: &'static str;
    /// The size of the first version: no caller has less.
    const FIRST: usize;
}

// SAFETY: integers and pointers only.
unsafe impl Element for BufferDescription {
    const NAME: &'static str = "memplan_buffer";
    // The first version ended with the flags.
    const FIRST: usize = std::mem::offset_of!(BufferDescription, spaces);
}

// SAFETY: integers only.
unsafe impl Element for SpaceDescription {
    const NAME: &'static str = "memplan_space";
    const FIRST: usize = size_of::<SpaceDescription>();
}

// SAFETY: integers only.
unsafe impl Element for IntervalDescription {
    const NAME: &'static str = "memplan_interval";
    const FIRST: usize = size_of::<IntervalDescription>();
}

// SAFETY: integers only.
unsafe impl Element for RelationDescription {
    const NAME: &'static str = "memplan_relation";
    const FIRST: usize = size_of::<RelationDescription>();
}

// SAFETY: integers only.
unsafe impl Element for ReuseCostDescription {
    const NAME: &'static str = "memplan_reuse_cost";
    const FIRST: usize = size_of::<ReuseCostDescription>();
}

// SAFETY: an integer. This one has no versions: callers always have four bytes.
unsafe impl Element for u32 {
    const NAME: &'static str = "candidate spaces";
    const FIRST: usize = size_of::<u32>();
}

/// More than any struct will ever be: a larger `struct_size` is garbage.
const LARGEST: usize = 4096;

/// Checks the size that a caller gives for one of its structs: at least that of its first version, and no garbage.
pub(crate) fn check_size(name: &str, size: usize, first: usize) -> Result<(), Failure> {
    if (first..=LARGEST).contains(&size) {
        return Ok(());
    }
    Err(Failure::argument(format!(
        "the size given for {name} is {size}; set it to sizeof({name}), which is at least {first}"
    )))
}

/// Copies a caller's struct over `default`: as many bytes as both the caller and we have.
///
/// # Safety
/// `pointer` is null or points to a `T` of the caller's version.
pub(crate) unsafe fn read_sized<T: SaysItsSize>(pointer: *const T, default: T) -> Result<T, Failure> {
    if pointer.is_null() {
        return Err(Failure::argument(format!("the pointer to {} is null", T::NAME)));
    }
    // SAFETY: every version begins with its size.
    let size = unsafe { pointer.cast::<usize>().read_unaligned() };
    check_size(T::NAME, size, T::FIRST)?;
    let mut value = default;
    // SAFETY: the caller has `size` bytes, we have `size_of::<T>()`, and any bytes are a `T`.
    unsafe {
        std::ptr::copy_nonoverlapping(pointer.cast::<u8>(), (&raw mut value).cast::<u8>(), size.min(size_of::<T>()));
    }
    Ok(value)
}

/// A caller's array of structs, whose length depends on the caller's version of the header.
pub(crate) struct Elements<T> {
    /// The first byte of the first element.
    first: *const u8,
    /// Bytes from one element to the next.
    stride: usize,
    /// How many elements there are.
    count: usize,
    /// Says which type the elements have; takes no room.
    element: PhantomData<T>,
}

impl<T: Element> Elements<T> {
    /// An array, if pointer, stride and count make sense. An empty array may have any pointer and stride.
    pub(crate) fn of(first: *const T, stride: usize, count: usize) -> Result<Elements<T>, Failure> {
        let name = T::NAME;
        if count > 0 {
            check_size(name, stride, T::FIRST)?;
            if first.is_null() {
                return Err(Failure::argument(format!("there are {count} of {name}, but the pointer to them is null")));
            }
        }
        // Ids are 32 bits wide, and Rust allows no array of more than `isize::MAX` bytes.
        let fits = stride.checked_mul(count).is_some_and(|bytes| bytes <= isize::MAX as usize);
        if !fits || u32::try_from(count).is_err() {
            return Err(Failure::argument(format!("{count} of {name} are more than 2^32")));
        }
        Ok(Elements { first: first.cast(), stride, count, element: PhantomData })
    }

    /// How many elements there are.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Copies them one by one.
    ///
    /// # Safety
    /// The array is as long as was said.
    pub(crate) unsafe fn iter(&self) -> impl Iterator<Item = T> {
        (0..self.count).map(|index| {
            let mut value = T::default();
            // SAFETY: the index is inside the array, and `of` checked that its bytes can be addressed.
            unsafe {
                std::ptr::copy_nonoverlapping(
                    self.first.add(index * self.stride),
                    (&raw mut value).cast::<u8>(),
                    self.stride.min(size_of::<T>()),
                );
            }
            value
        })
    }
}
