//! The guides, one module per page. Their text is in the `docs` folder of the repository; the code blocks are
//! run as tests. Links to other guides are defined there for the folder, and here, before the text, for these modules.

pub mod crowds {
    #![doc = include_str!("../docs/crowds.md")]
}

pub mod edges {
    #![doc = include_str!("../docs/edges.md")]
}

pub mod grids {
    #![doc = "[edges]: super::edges\n\n"]
    #![doc = include_str!("../docs/grids.md")]
}

#[cfg(feature = "tilemap")]
pub mod hexagons {
    #![doc = include_str!("../docs/hexagons.md")]
}

pub mod links {
    #![doc = "[edges]: super::edges\n\n"]
    #![doc = include_str!("../docs/links.md")]
}

pub mod orders {
    #![cfg_attr(feature = "tilemap", doc = "[hexagons]: super::hexagons\n\n")]
    #![doc = include_str!("../docs/orders.md")]
}

pub mod snapshots {
    #![doc = include_str!("../docs/snapshots.md")]
}

pub mod ticks {
    #![doc = include_str!("../docs/ticks.md")]
}
