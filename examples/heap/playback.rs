//! The playback: which moment is shown, and when the next one follows.
//!
//! Input: [`Action`]s and the clock. Output: [`Playback`]. This module draws nothing.

use bevy::prelude::*;

use crate::{display::ViewSystems, event::Event, timeline::Timeline};

/// Speeds, in moments per second.
const SPEEDS: [f32; 7] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
/// Index of the initial speed.
const FIRST_SPEED: usize = 2;
/// Duration of the swap animation in seconds, unless the next moment comes sooner.
const GLIDE: f32 = 0.22;

/// A command to the playback.
#[derive(Message, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Home,
    Back,
    Step,
    Expand,
    End,
    Run,
    Slower,
    Faster,
}

/// The shown moment and the speed.
#[derive(Resource, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Playback {
    pub at: usize,
    pub is_running: bool,
    speed: usize,
}

impl Default for Playback {
    fn default() -> Self {
        Self { at: 0, is_running: false, speed: FIRST_SPEED }
    }
}

/// Progress of the swap animation: 0 to 1; 1 without a swap.
#[derive(Resource, Clone, Copy, Debug, PartialEq)]
pub struct SwapAnimation(pub f32);

impl Playback {
    /// Returns the speed in moments per second.
    pub const fn speed(&self) -> f32 {
        SPEEDS[self.speed]
    }

    /// Executes a command.
    pub fn act(&mut self, action: Action, timeline: &Timeline) {
        let last = timeline.last();
        self.at = match action {
            Action::Home => 0,
            Action::Back => self.at.saturating_sub(1),
            Action::Step => (self.at + 1).min(last),
            Action::Expand => timeline.next_expansion(self.at),
            Action::End => last,
            // At the end it runs again from the start.
            Action::Run if !self.is_running && self.at == last => 0,
            Action::Run | Action::Slower | Action::Faster => self.at,
        };
        match action {
            Action::Run => self.is_running = !self.is_running,
            Action::Slower => self.speed = self.speed.saturating_sub(1),
            Action::Faster => self.speed = (self.speed + 1).min(SPEEDS.len() - 1),
            _ => self.is_running = false,
        }
    }
}

/// Adds the playback.
pub struct PlaybackPlugin;

impl Plugin for PlaybackPlugin {
    fn build(&self, app: &mut App) {
        app.add_message::<Action>()
            .init_resource::<Playback>()
            .insert_resource(SwapAnimation(1.0))
            .add_systems(Update, (act, run, glide).chain().in_set(ViewSystems::Play));
    }
}

fn act(
    mut actions: MessageReader<Action>,
    timeline: Res<Timeline>,
    mut playback: ResMut<Playback>,
) {
    for &action in actions.read() {
        playback.act(action, &timeline);
    }
}

fn run(
    time: Res<Time>,
    timeline: Res<Timeline>,
    mut playback: ResMut<Playback>,
    mut waited: Local<f32>,
) {
    if !playback.is_running {
        *waited = 0.0;
        return;
    }
    *waited += time.delta_secs() * playback.speed();
    let steps = *waited as usize;
    if steps > 0 {
        *waited -= steps as f32;
        playback.at = (playback.at + steps).min(timeline.last());
        playback.is_running = playback.at < timeline.last();
    }
}

/// Starts and advances the animation when the playback advances by one swap.
fn glide(
    time: Res<Time>,
    timeline: Res<Timeline>,
    playback: Res<Playback>,
    mut glide: ResMut<SwapAnimation>,
    mut before: Local<usize>,
) {
    let is_swap = matches!(timeline.moment(playback.at).event, Some(Event::Swapped { .. }));
    if playback.at != *before {
        let is_next = playback.at == *before + 1;
        glide.set_if_neq(SwapAnimation(if is_next && is_swap { 0.0 } else { 1.0 }));
        *before = playback.at;
    } else if glide.0 < 1.0 {
        let speed = if playback.is_running { playback.speed() } else { 0.0 };
        glide.0 = (glide.0 + time.delta_secs() * (1.0 / GLIDE).max(speed * 1.5)).min(1.0);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]
mod tests {
    use super::*;
    use crate::level::{FIRST, Level};

    fn timeline() -> Timeline {
        let level = Level::read(FIRST).unwrap();
        Timeline::record(&level.grid().unwrap(), level.start, level.goal)
    }

    #[test]
    fn it_moves_both_ways_within_the_timeline() {
        let (timeline, mut playback) = (timeline(), Playback::default());
        playback.act(Action::Back, &timeline);
        assert_eq!(playback.at, 0);
        playback.act(Action::Expand, &timeline);
        assert_eq!(timeline.moment(playback.at).event, Some(Event::Top));
        playback.act(Action::Step, &timeline);
        playback.act(Action::Back, &timeline);
        assert_eq!(timeline.moment(playback.at).event, Some(Event::Top));
        playback.act(Action::End, &timeline);
        playback.act(Action::Step, &timeline);
        playback.act(Action::Expand, &timeline);
        assert_eq!(playback.at, timeline.last());
        playback.act(Action::Run, &timeline);
        assert!(playback.is_running && playback.at == 0);
        playback.act(Action::Step, &timeline);
        assert!(!playback.is_running && playback.at == 1);
    }

    #[test]
    fn speeds_stay_within_their_limits() {
        let (timeline, mut playback) = (timeline(), Playback::default());
        let mut speed_after = |action| {
            (0..9).for_each(|_| playback.act(action, &timeline));
            playback.speed() as u32
        };
        assert_eq!([speed_after(Action::Faster), speed_after(Action::Slower)], [64, 1]);
    }
}
