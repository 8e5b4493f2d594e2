//! Events of the heap, and the highlights of their slots.
//!
//! Input: nothing. Output: the types [`Event`] and [`Highlight`].

use bevy_tilepath::nav::open_list::Key;

/// A step of the heap, with its slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// An entry was appended.
    Inserted(usize),
    /// The key of an entry has decreased; the previous key is given.
    Improved(usize, Key),
    /// The first entry is about to be removed.
    Top,
    /// The first entry was removed, and the last one moved to its slot.
    LastToTop,
    /// The only entry was removed.
    Emptied,
    /// An entry was compared with its parent, with this result.
    Up { child: usize, parent: usize, swaps: bool },
    /// The two children of the entry that moves down were compared.
    Children { left: usize, right: usize },
    /// An entry was compared with its cheaper child, with this result.
    Down { parent: usize, child: usize, swaps: bool },
    /// Two entries were swapped; the moving one is now at `to`.
    Swapped { from: usize, to: usize },
}

impl Event {
    /// Returns its slots.
    pub fn slots(self) -> impl Iterator<Item = usize> + use<> {
        let (one, other) = match self {
            Self::Inserted(slot) | Self::Improved(slot, _) => (Some(slot), None),
            Self::Top | Self::LastToTop => (Some(0), None),
            Self::Up { child, parent, .. } | Self::Down { parent, child, .. } => {
                (Some(child), Some(parent))
            }
            Self::Children { left, right } => (Some(left), Some(right)),
            Self::Swapped { from, to } => (Some(from), Some(to)),
            Self::Emptied => (None, None),
        };
        one.into_iter().chain(other)
    }
}

/// The reason for highlighting a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Highlight {
    Compared,
    Swapped,
    Inserted,
    Removed,
}

impl Highlight {
    /// Returns the highlight of an event's slots.
    pub const fn of(event: Event) -> Self {
        match event {
            Event::Inserted(_) | Event::Improved(..) | Event::LastToTop => Self::Inserted,
            Event::Top | Event::Emptied => Self::Removed,
            Event::Up { .. } | Event::Children { .. } | Event::Down { .. } => Self::Compared,
            Event::Swapped { .. } => Self::Swapped,
        }
    }
}
