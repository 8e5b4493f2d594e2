//! The guides, one module per page. Their text is in the `docs` folder of the repository; the code blocks are
//! run as tests.

pub mod crowds {
    #![doc = include_str!("../docs/crowds.md")]
}

pub mod edges {
    #![doc = include_str!("../docs/edges.md")]
}

#[cfg(feature = "tilemap")]
pub mod hexagons {
    #![doc = include_str!("../docs/hexagons.md")]
}

pub mod links {
    #![doc = include_str!("../docs/links.md")]
}

pub mod orders {
    #![doc = include_str!("../docs/orders.md")]
}

pub mod snapshots {
    #![doc = include_str!("../docs/snapshots.md")]
}
