//! The playback: which moment is shown, and when the next one is due.
//!
//! Input: [`Action`]s and the clock. Output: [`Playback`]. It knows nothing of what is drawn.

use bevy::prelude::*;

use crate::{display::ViewSystems, event::Event, story::Story};

/// Moments a second that can be chosen.
const SPEEDS: [f32; 7] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
/// The one to begin with.
const FIRST_SPEED: usize = 2;
/// Seconds that entries take to change places, unless the next moment comes sooner.
const GLIDE: f32 = 0.22;

/// What the viewer may ask for.
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

/// Which moment is shown.
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

/// How far entries that change places have come: 0 to 1, and 1 at rest.
#[derive(Resource, Clone, Copy, Debug, PartialEq)]
pub struct Glide(pub f32);

impl Playback {
    /// Moments a second.
    pub const fn speed(&self) -> f32 {
        SPEEDS[self.speed]
    }

    /// Does what was asked for.
    pub fn act(&mut self, action: Action, story: &Story) {
        let last = story.last();
        self.at = match action {
            Action::Home => 0,
            Action::Back => self.at.saturating_sub(1),
            Action::Step => (self.at + 1).min(last),
            Action::Expand => story.next_expansion(self.at),
            Action::End => last,
            // From the end it runs once more.
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

/// Goes through the story.
pub struct PlaybackPlugin;

impl Plugin for PlaybackPlugin {
    fn build(&self, app: &mut App) {
        app.add_message::<Action>()
            .init_resource::<Playback>()
            .insert_resource(Glide(1.0))
            .add_systems(Update, (act, run, glide).chain().in_set(ViewSystems::Play));
    }
}

fn act(mut actions: MessageReader<Action>, story: Res<Story>, mut playback: ResMut<Playback>) {
    for &action in actions.read() {
        playback.act(action, &story);
    }
}

fn run(time: Res<Time>, story: Res<Story>, mut playback: ResMut<Playback>, mut waited: Local<f32>) {
    if !playback.is_running {
        *waited = 0.0;
        return;
    }
    *waited += time.delta_secs() * playback.speed();
    let steps = *waited as usize;
    if steps > 0 {
        *waited -= steps as f32;
        playback.at = (playback.at + steps).min(story.last());
        playback.is_running = playback.at < story.last();
    }
}

/// Lets entries glide whenever the story goes on by one swap.
fn glide(
    time: Res<Time>,
    story: Res<Story>,
    playback: Res<Playback>,
    mut glide: ResMut<Glide>,
    mut before: Local<usize>,
) {
    let is_swap = matches!(story.moment(playback.at).event, Some(Event::Swapped { .. }));
    if playback.at != *before {
        let goes_on = playback.at == *before + 1;
        glide.set_if_neq(Glide(if goes_on && is_swap { 0.0 } else { 1.0 }));
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

    fn story() -> Story {
        let level = Level::read(FIRST).unwrap();
        Story::tell(&level.grid().unwrap(), level.start, level.goal)
    }

    #[test]
    fn it_goes_on_and_back_and_stays_in_the_story() {
        let (story, mut playback) = (story(), Playback::default());
        playback.act(Action::Back, &story);
        assert_eq!(playback.at, 0);
        playback.act(Action::Expand, &story);
        assert_eq!(story.moment(playback.at).event, Some(Event::Top));
        playback.act(Action::Step, &story);
        playback.act(Action::Back, &story);
        assert_eq!(story.moment(playback.at).event, Some(Event::Top));
        playback.act(Action::End, &story);
        playback.act(Action::Step, &story);
        playback.act(Action::Expand, &story);
        assert_eq!(playback.at, story.last());
        playback.act(Action::Run, &story);
        assert!(playback.is_running && playback.at == 0);
        playback.act(Action::Step, &story);
        assert!(!playback.is_running && playback.at == 1);
    }

    #[test]
    fn speeds_have_ends() {
        let (story, mut playback) = (story(), Playback::default());
        let mut speed_after = |action| {
            (0..9).for_each(|_| playback.act(action, &story));
            playback.speed() as u32
        };
        assert_eq!([speed_after(Action::Faster), speed_after(Action::Slower)], [64, 1]);
    }
}
