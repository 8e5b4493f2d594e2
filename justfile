# Every check of the project; `.ci/run` calls these very recipes.
# Examples and tests share one feature set and one profile: Bevy is built once for both.

data := env("TILEPATH_DATA", "../shared/data/movingai")

# List the recipes.
default:
    @just --list

# The game.
rts *args:
    cargo run --example rts -- {{args}}

# The tests.
test:
    cargo test

# The features that are not among the default ones: Bevy's own tilemap chunks; snapshots as files, and serde of public data.
more-features:
    cargo test --features tilemap_chunk,serialize --test chunks --test saving

# Formatting, of every package.
fmt:
    cargo fmt --all --check
    cargo fmt --all --check --manifest-path benches/peers/Cargo.toml
    cargo fmt --all --check --manifest-path integrations/Cargo.toml
    cargo fmt --all --check --manifest-path tools/make_assets/Cargo.toml

# Lints, on all targets and features.
clippy:
    cargo clippy --all-targets --all-features -- -D warnings

# The library with every feature alone, none of them, and all, warnings as errors.
features:
    cargo clippy --no-default-features -- -D warnings
    cargo clippy --no-default-features --features tilemap -- -D warnings
    cargo clippy --no-default-features --features tilemap_chunk -- -D warnings
    cargo clippy --no-default-features --features debug_draw -- -D warnings
    cargo clippy --no-default-features --features visibility -- -D warnings
    cargo clippy --no-default-features --features serialize -- -D warnings
    cargo clippy --all-features -- -D warnings

# Documentation, warnings as errors.
doc:
    RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --all-features

# The same as docs.rs builds it, with badges for features. docs.rs uses a nightly compiler for that: this one acts as one, for this
# crate alone. In a folder of its own: build scripts run anew when the variable changes, and Bevy would be built again each time.
docs-rs:
    RUSTC_BOOTSTRAP=bevy_tilepath RUSTDOCFLAGS="-D warnings --cfg docsrs" cargo doc --no-deps --all-features --target-dir target/docs-rs

# What has changed for users since a commit or tag (needs cargo-semver-checks).
semver baseline:
    cargo semver-checks --baseline-rev {{baseline}}

# The crates that a user of the library compiles, without those that are only for tests and examples; `--no-default-features` shows
# the fewest.
tree *args:
    cargo tree --edges normal,build --prefix none {{args}} | sort -u | wc -l

# Licenses, bans and sources of dependencies (needs cargo-deny).
deny:
    cargo deny --all-features check licenses bans sources
    cargo deny --manifest-path integrations/Cargo.toml --config deny.toml check licenses bans sources

# Spelling (needs typos).
typos:
    typos

# What `cargo package` would ship.
package:
    cargo package --list --allow-dirty
    cargo package --no-verify --allow-dirty

# Builds the headless runners, in the profile of the tests: their figures are checked here, not their times, and
# Bevy need not be built again.
runners:
    cargo build --example scenario --example burst --example rts --example open_lists --example crowd

# Every path of every map: right cost, legal steps, whole and sliced.
scenarios: runners
    scripts/scenarios.sh {{data}}

# A thousand requests in one tick.
bursts: runners
    scripts/bursts.sh {{data}}

# Crowds in every scene and on multi-agent instances: all arrive, nobody ever overlaps.
crowds: runners
    scripts/crowds.sh {{data}}/../mapf

# The game without a window, twice: the same state.
headless: runners
    scripts/headless.sh

# Every open list finds the same costs, on generated and on real maps.
open-lists: runners
    scripts/open_lists.sh {{data}}

# The windowed examples, driven by scripts (needs a display and a graphics adapter, software will do).
smoke dir="target/smoke":
    mkdir -p {{dir}}
    cargo run --example rts -- --smoke {{dir}}
    cargo run --example heap -- --smoke {{dir}}/heap
    cargo run --example crowds -- --smoke {{dir}}/crowds
    cargo run --example tower_defense -- --smoke {{dir}}/tower_defense
    cargo run --example isometric -- --smoke {{dir}}/isometric
    cargo run --example skirmish -- --smoke {{dir}}/skirmish
    cargo run --example hex -- --smoke {{dir}}/hex
    cargo run --example fences -- --smoke {{dir}}/fences
    cargo run --example stairs -- --smoke {{dir}}/stairs
    cargo run --example own_movement -- --smoke {{dir}}/own_movement
    cargo run --example chunks --features tilemap_chunk,serialize -- --smoke {{dir}}/chunks

# The crate with others: Tiled, LDtk, physics, an inspector, saved games, lockstep. Tests and lints; what both packages need is built once.
integrations:
    cargo test --manifest-path integrations/Cargo.toml --target-dir target
    cargo clippy --manifest-path integrations/Cargo.toml --target-dir target --all-targets -- -D warnings

# Three processes play 20,000 ticks in lockstep; two join the third, one of them in the middle.
lockstep ticks="20000":
    LOCKSTEP_TICKS={{ticks}} cargo test --manifest-path integrations/Cargo.toml --target-dir target --test all lockstep -- --nocapture

# Their windows, driven by scripts.
smoke-integrations dir="target/smoke":
    cargo run --manifest-path integrations/Cargo.toml --target-dir target --example tiled -- --smoke {{dir}}/tiled
    cargo run --manifest-path integrations/Cargo.toml --target-dir target --example ldtk -- --smoke {{dir}}/ldtk
    cargo run --manifest-path integrations/Cargo.toml --target-dir target --example physics -- --smoke {{dir}}/physics
    cargo run --manifest-path integrations/Cargo.toml --target-dir target --example inspector -- --smoke {{dir}}/inspector
    cargo run --manifest-path integrations/Cargo.toml --target-dir target --example lockstep -- --smoke {{dir}}/lockstep

# This crate and those it is compared with, all in one process.
peers *args:
    cargo run --release --manifest-path benches/peers/Cargo.toml -- {{args}}

# Whether the package with the compared crates still builds against this crate.
peers-check:
    cargo check --manifest-path benches/peers/Cargo.toml

# Draws tiles, critters and maps anew.
assets:
    cargo run --release --manifest-path tools/make_assets/Cargo.toml

# Whether tiles, critters and maps are what the program draws.
assets-check:
    cargo test --release --manifest-path tools/make_assets/Cargo.toml
    mkdir -p target/assets
    cargo run --release --manifest-path tools/make_assets/Cargo.toml -- --out target/assets
    diff -r assets target/assets
