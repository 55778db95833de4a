//! What has to be placed: a buffer with its size, its life and its wishes.
//!
//! A problem may hold millions of buffers, so a buffer is small: 128 bytes, two lines of a cache. What
//! few buffers have ([`Rare`]) lies behind a pointer that is empty for the others, and a short name is
//! kept in the buffer itself ([`Name`]):
//!
//! ```
//! use memplan_core::{Buffer, Bytes, Lifetime};
//!
//! let plain = Buffer::new("a", 64, Lifetime::new(0, 2));
//! assert_eq!(plain.fixed(), None);
//! let fixed = plain.with_fixed(Bytes(128));
//! assert_eq!(fixed.fixed(), Some(Bytes(128)));
//! ```

use std::sync::Arc;

use smallvec::SmallVec;
use smol_str::SmolStr;

use crate::{Bytes, GroupId, Lifetime, SpaceId};

/// How large a buffer is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Size {
    /// A number of bytes; 0 is legal.
    Fixed(Bytes),
    /// Two, three or four components (a texture's width and height, BHWC). Such
    /// buffers have no addresses; they share objects.
    Shape(Box<[u64]>),
    /// A size only known at run time. Such buffers share whole objects; offsets
    /// can be planned only for those with an upper bound.
    Symbolic {
        /// Buffers with the same symbol have the same size.
        symbol: Box<str>,
        /// The most it can be.
        at_most: Option<Bytes>,
    },
}

impl Size {
    /// Bytes to reserve; `None` for a shape, or for a symbol without an upper bound.
    pub fn bytes(&self) -> Option<Bytes> {
        match self {
            Size::Fixed(bytes) => Some(*bytes),
            Size::Shape(_) => None,
            Size::Symbolic { at_most, .. } => *at_most,
        }
    }

    /// Bytes to reserve, or the elements of a texture: the product of its components. An object is at
    /// least as large in this sense as each buffer that uses it.
    pub fn volume(&self) -> Option<Bytes> {
        match self {
            Size::Shape(components) => {
                Some(Bytes(components.iter().fold(1u64, |product, &length| product.saturating_mul(length))))
            }
            size => size.bytes(),
        }
    }
}

/// A place inside a group: the buffer starts `at` bytes after the group's base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tie {
    /// The group; its members may overlap each other.
    pub group: GroupId,
    /// Inner offset.
    pub at: Bytes,
}

/// The name of a buffer. Up to 23 bytes are kept in place, longer names are shared by all copies. So a million short
/// names take no memory of their own.
pub type Name = SmolStr;

/// Something that needs memory for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Unique name, the `id` of file formats.
    pub name: Name,
    /// Size of one slot.
    pub size: Size,
    /// Its offset is a multiple of this (and of the space's alignment).
    pub alignment: Bytes,
    /// Where it may live, best first. Empty means the first space.
    pub spaces: SmallVec<[SpaceId; 2]>,
    /// When it is alive.
    pub lifetime: Lifetime,
    /// Copies used in rotation (multi-buffering); each has its own offset.
    pub slots: u32,
    /// Shares its bytes with no other buffer, not even at other times.
    pub exclusive: bool,
    /// What few buffers have: a fixed offset, a tie, a pipe, a loop. Methods of the buffer read and set it.
    pub rare: Rare,
}

/// The properties of a [`Buffer`] that few buffers have. Empty for all others, which takes one pointer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rare {
    properties: Option<Box<Properties>>,
}

/// What the methods of [`Buffer`] with the same names return.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Properties {
    fixed: Option<Bytes>,
    /// Many buffers have the same pipe and the same loop, so a copy of a problem does not copy these names.
    pipe: Option<Arc<str>>,
    enclosing_loop: Option<Arc<str>>,
    tie: Option<Tie>,
}

impl Buffer {
    /// A plain buffer of the first space.
    pub fn new(name: impl Into<Name>, size: u64, lifetime: Lifetime) -> Buffer {
        Buffer {
            name: name.into(),
            size: Size::Fixed(Bytes(size)),
            alignment: Bytes(1),
            spaces: SmallVec::new(),
            lifetime,
            slots: 1,
            exclusive: false,
            rare: Rare::default(),
        }
    }

    /// Bytes of one slot; `None` if they are not known (see [`Size::bytes`]).
    pub fn bytes(&self) -> Option<Bytes> {
        self.size.bytes()
    }

    /// An offset it must have. Only for single-slot buffers.
    pub fn fixed(&self) -> Option<Bytes> {
        self.rare.properties.as_ref()?.fixed
    }

    /// Membership in a group.
    pub fn tie(&self) -> Option<Tie> {
        self.rare.properties.as_ref()?.tie
    }

    /// Class of the execution unit that produces it.
    pub fn pipe(&self) -> Option<&str> {
        self.rare.properties.as_ref()?.pipe.as_deref()
    }

    /// Innermost loop around it.
    pub fn enclosing_loop(&self) -> Option<&str> {
        self.rare.properties.as_ref()?.enclosing_loop.as_deref()
    }

    /// Sets or removes the [`fixed`](Buffer::fixed) offset.
    pub fn set_fixed(&mut self, fixed: Option<Bytes>) {
        self.rare.change(|properties| properties.fixed = fixed);
    }

    /// Sets or removes the [`tie`](Buffer::tie).
    pub fn set_tie(&mut self, tie: Option<Tie>) {
        self.rare.change(|properties| properties.tie = tie);
    }

    /// Sets or removes the [`pipe`](Buffer::pipe).
    pub fn set_pipe(&mut self, pipe: Option<&str>) {
        self.rare.change(|properties| properties.pipe = pipe.map(Into::into));
    }

    /// Sets the [`pipe`](Buffer::pipe) and the [`enclosing_loop`](Buffer::enclosing_loop) to names that other buffers
    /// have, too: the names are shared and not copied.
    pub fn share_names(&mut self, pipe: Option<Arc<str>>, enclosing_loop: Option<Arc<str>>) {
        self.rare.change(|properties| (properties.pipe, properties.enclosing_loop) = (pipe, enclosing_loop));
    }

    /// Sets or removes the [`enclosing_loop`](Buffer::enclosing_loop).
    pub fn set_enclosing_loop(&mut self, enclosing_loop: Option<&str>) {
        self.rare.change(|properties| properties.enclosing_loop = enclosing_loop.map(Into::into));
    }

    /// This buffer at a [`fixed`](Buffer::fixed) offset, or at none.
    #[must_use]
    pub fn with_fixed(mut self, fixed: impl Into<Option<Bytes>>) -> Buffer {
        self.set_fixed(fixed.into());
        self
    }

    /// This buffer with a [`tie`](Buffer::tie), or with none.
    #[must_use]
    pub fn with_tie(mut self, tie: impl Into<Option<Tie>>) -> Buffer {
        self.set_tie(tie.into());
        self
    }
}

impl Rare {
    /// Changes the properties. Nothing stays allocated for a buffer without such properties, also when the last one is
    /// taken away, so that equal buffers have equal fields.
    fn change(&mut self, change: impl FnOnce(&mut Properties)) {
        // The existing properties are changed, or new empty ones, which are stored only if they are no longer empty.
        let mut new = Properties::default();
        let properties = self.properties.as_deref_mut().unwrap_or(&mut new);
        change(properties);
        if *properties == Properties::default() {
            self.properties = None;
        } else if self.properties.is_none() {
            self.properties = Some(Box::new(new));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_takes_two_lines_of_a_cache() {
        assert!(size_of::<Buffer>() <= 128, "{}", size_of::<Buffer>());
    }

    #[test]
    fn properties_come_and_go() {
        let plain = Buffer::new("a", 64, Lifetime::new(0, 2));
        let tie = Tie { group: crate::Id::from_index(3), at: Bytes(32) };
        let mut buffer = plain.clone().with_fixed(Bytes(128)).with_tie(tie);
        buffer.set_pipe(Some("vector"));
        buffer.set_enclosing_loop(Some("for#1"));
        assert_eq!((buffer.fixed(), buffer.tie()), (Some(Bytes(128)), Some(tie)));
        assert_eq!((buffer.pipe(), buffer.enclosing_loop()), (Some("vector"), Some("for#1")));
        buffer.set_pipe(None);
        buffer.set_enclosing_loop(None);
        assert_ne!(buffer, plain);
        assert_eq!(buffer.with_fixed(None).with_tie(None), plain);
    }
}
