//! Ids as distinct types, and vectors indexed by them.
//!
//! A [`BufferId`] cannot be used where a [`SpaceId`] is meant. Other crates
//! make their own ids with [`index_type!`](crate::index_type).

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A dense `u32` id.
pub trait Id: Copy + Eq + Ord + fmt::Debug {
    /// The id of the `index`-th element. Panics past `u32::MAX` elements.
    fn from_index(index: usize) -> Self;
    /// The position this id stands for.
    fn index(self) -> usize;
}

/// Declares id types: `index_type! { /// An op. pub struct OpId; }`.
#[macro_export]
macro_rules! index_type {
    ($($(#[$meta:meta])* $vis:vis struct $name:ident;)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis struct $name(u32);

        impl $crate::Id for $name {
            #[inline]
            fn from_index(index: usize) -> Self {
                // Whoever makes ids checks the number of elements before (such as `ProblemError::TooManyBuffers`).
                Self(u32::try_from(index).expect("fewer than 2^32 elements"))
            }
            #[inline]
            fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

index_type! {
    /// A buffer of a [`Problem`](crate::Problem), by position in input order.
    pub struct BufferId;
    /// A memory space of a [`Problem`](crate::Problem).
    pub struct SpaceId;
    /// A tie group of a [`Problem`](crate::Problem).
    pub struct GroupId;
    /// A shared object of a [`Plan`](crate::Plan).
    pub struct ObjectId;
}

/// A vector indexed by an id type.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct IndexVec<I, T> {
    items: Vec<T>,
    id: PhantomData<fn(I) -> I>,
}

impl<I: Id, T> IndexVec<I, T> {
    /// An empty vector.
    #[inline]
    pub fn new() -> Self {
        Self::from_vec(Vec::new())
    }

    /// Takes over a plain vector; the first element gets id 0.
    #[inline]
    pub fn from_vec(items: Vec<T>) -> Self {
        IndexVec { items, id: PhantomData }
    }

    /// `count` copies of `item`.
    pub fn filled(item: T, count: usize) -> Self
    where
        T: Clone,
    {
        Self::from_vec(vec![item; count])
    }

    /// Appends and returns the new element's id.
    #[inline]
    pub fn push(&mut self, item: T) -> I {
        let id = I::from_index(self.items.len());
        self.items.push(item);
        id
    }

    /// Makes room for so many more elements, so that pushing them moves none.
    pub fn reserve(&mut self, additional: usize) {
        self.items.reserve(additional);
    }

    /// Makes room for this many further elements, and no more.
    pub fn reserve_exact(&mut self, more: usize) {
        self.items.reserve_exact(more);
    }

    /// Number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are no elements.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The element, if the id is in range.
    #[inline]
    pub fn get(&self, id: I) -> Option<&T> {
        self.items.get(id.index())
    }

    /// All elements in order.
    #[inline]
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    /// All elements in order, to change.
    #[inline]
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.items.iter_mut()
    }

    /// All ids in order.
    #[inline]
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + Clone + use<I, T> {
        (0..self.items.len()).map(I::from_index)
    }

    /// Ids with their elements, in order.
    #[inline]
    pub fn iter_enumerated(&self) -> impl DoubleEndedIterator<Item = (I, &T)> + ExactSizeIterator {
        self.items.iter().enumerate().map(|(index, item)| (I::from_index(index), item))
    }

    /// The elements as a slice.
    #[inline]
    pub fn as_slice(&self) -> &[T] {
        &self.items
    }

    /// The plain vector.
    #[inline]
    pub fn into_vec(self) -> Vec<T> {
        self.items
    }
}

impl<I: Id, T> Default for IndexVec<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I: Id, T> Index<I> for IndexVec<I, T> {
    type Output = T;
    #[inline]
    fn index(&self, id: I) -> &T {
        &self.items[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for IndexVec<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.items[id.index()]
    }
}

impl<I: Id, T> FromIterator<T> for IndexVec<I, T> {
    fn from_iter<It: IntoIterator<Item = T>>(items: It) -> Self {
        Self::from_vec(items.into_iter().collect())
    }
}

impl<'a, I: Id, T> IntoIterator for &'a IndexVec<I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<I, T: fmt::Debug> fmt::Debug for IndexVec<I, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.items).finish()
    }
}
