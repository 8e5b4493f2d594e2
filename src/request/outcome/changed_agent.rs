//! What becomes of a unit's request when its agent changes: it is on another grid, or another kind of unit.
//!
//! Input: the agent, and the request as it was resolved. Output: where the request goes on, and whether it needs another path.

use crate::{nav::PathKind, request::RequesterItem, unit::Journey};

impl RequesterItem<'_, '_> {
    /// Its [`NavAgent`](crate::unit::NavAgent) has changed. Returns whether its request needs another path; if not, the next path will be
    /// for the new grid and profile.
    pub(in crate::request) fn agent_changed(&mut self) -> bool {
        let own = self.agent.copied().unwrap_or_default();
        self.state.agent = own;
        // If the game moves a unit, the game takes it across links.
        let is_at_link = self.critter.is_none()
            && self.status.has_path()
            && self.path.0.kind() == PathKind::ToLink;
        let is_its_own = !self.state.overrides_agent || is_at_link;
        if !is_its_own || (self.state.grid, self.state.query.profile) == (own.grid, own.profile) {
            return false;
        }
        if self.state.overrides_agent {
            // The game took it across a link: the request goes on from there.
            let has_crossed = own.grid != self.state.grid;
            if has_crossed {
                let left = self.state.grid;
                self.state.journey.left.get_or_insert(left);
                self.state.journey.grid = Some(own.grid);
            }
            return has_crossed && self.is_latest();
        }
        let stays = own.grid == self.state.grid;
        let known = self.state.journey.left.filter(|_| stays || is_at_link);
        let left = known.or(is_at_link.then_some(self.state.grid));
        self.state.journey = Journey { left, ..Journey::default() };
        if !stays && !is_at_link {
            self.state.places = None; // what it is sent to is on another grid
        }
        let needs_path = self.is_latest() && self.status.is_under_way();
        if !needs_path {
            self.state.query.profile = own.profile;
            // A ghost stays on the grid on which it stands until its next request, unless the game has put it elsewhere.
            let is_ghost = self.critter.as_ref().is_some_and(|(state, transform)| {
                state.placed && state.unit().is_none() && !state.was_moved(transform)
            });
            if !is_ghost {
                self.state.grid = own.grid;
            }
        }
        needs_path
    }
}
