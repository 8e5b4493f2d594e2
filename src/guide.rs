//! The guide, page by page.
