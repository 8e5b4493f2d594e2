//! An event: one thing that happens to the heap, by the slots it happens to, and the light that
//! these slots stand in.

use bevy_tilepath::nav::open_list::Key;

/// What has just happened, by slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// An entry was put at the end.
    Put(usize),
    /// The f of an entry has fallen; it was the one given.
    Improved(usize, Key),
    /// The first entry is about to be taken.
    Top,
    /// The first entry is gone, and the last one stands in its place.
    LastToTop,
    /// The only entry is gone.
    Emptied,
    /// An entry was compared with its parent, with this outcome.
    Up { child: usize, parent: usize, swaps: bool },
    /// The two children of the entry on its way down were compared.
    Children { left: usize, right: usize },
    /// An entry was compared with its cheaper child, with this outcome.
    Down { parent: usize, child: usize, swaps: bool },
    /// Two entries have changed places; the one on its way is at `to`.
    Swapped { from: usize, to: usize },
}

impl Event {
    /// The slots it is about.
    pub fn slots(self) -> impl Iterator<Item = usize> + use<> {
        let (one, other) = match self {
            Self::Put(slot) | Self::Improved(slot, _) => (Some(slot), None),
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

/// Why a slot is lit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Light {
    Compared,
    Swapped,
    Put,
    Taken,
}

impl Light {
    /// The light of all slots that an event is about.
    pub const fn of(event: Event) -> Self {
        match event {
            Event::Put(_) | Event::Improved(..) | Event::LastToTop => Self::Put,
            Event::Top | Event::Emptied => Self::Taken,
            Event::Up { .. } | Event::Children { .. } | Event::Down { .. } => Self::Compared,
            Event::Swapped { .. } => Self::Swapped,
        }
    }
}
