//! A job and the search that works on it.

use super::Job;
use crate::nav::{open_list::OpenList, search::Search};

#[derive(Debug)]
pub(super) struct Flight<L: OpenList> {
    pub(super) job: Job,
    pub(super) search: Search<L>,
}
