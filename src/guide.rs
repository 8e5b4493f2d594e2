//! The guide, page by page. The pages lie in the repository's `docs` folder; their snippets are run as
//! tests.

pub mod crowds {
    #![doc = include_str!("../docs/crowds.md")]
}

pub mod orders {
    #![doc = include_str!("../docs/orders.md")]
}
