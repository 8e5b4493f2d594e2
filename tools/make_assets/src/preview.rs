//! Pictures to judge the art by: enlarged sheets and rendered maps.
//!
//! In: the finished sheets and maps. Out: PNG files in a folder of your choice.

use std::{error::Error, path::Path};

use crate::{
    canvas::Canvas,
    grid::{Grid, SIDES},
    noise::hash,
    palette::GRASS,
    tiles::{ROWS, SIZE},
};

/// Cells of a close-up.
const VIEW: (i32, i32) = (48, 30);

/// Writes all previews.
pub fn write(
    folder: &Path,
    sheets: &[(&str, Canvas); 3],
    maps: &[(&str, Grid); 3],
) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(folder)?;
    for (name, sheet) in sheets {
        let mut lawn = Canvas::painted(sheet.width, sheet.height, |_, _| GRASS[3]);
        lawn.draw(sheet, 0, 0);
        let times = if sheet.height > 200 { 4 } else { 6 };
        lawn.enlarged(times).save(&folder.join(format!("{name}.png")))?;
    }
    let [(_, tiles), (_, critters), (_, marks)] = sheets;
    for (name, map) in maps {
        let shrink = map.width / 64;
        let full = render(map, tiles, (0, 0), (map.width, map.height));
        full.shrunk(shrink).save(&folder.join(format!("{name}_full.png")))?;
        for (i, corner) in corners(name).into_iter().enumerate() {
            let mut view = render(map, tiles, corner, VIEW);
            populate(&mut view, map, corner, critters, marks);
            view.enlarged(2).save(&folder.join(format!("{name}_{i}.png")))?;
        }
    }
    Ok(())
}

fn corners(name: &str) -> [(i32, i32); 2] {
    match name {
        "islands" => [(76, 80), (150, 20)],
        "city" => [(48, 100), (120, 30)],
        _ => [(112, 40), (230, 60)],
    }
}

fn render(map: &Grid, tiles: &Canvas, corner: (i32, i32), size: (i32, i32)) -> Canvas {
    let all: Vec<Canvas> =
        (0..8 * ROWS).map(|i| tiles.part(i % 8 * SIZE, i / 8 * SIZE, SIZE, SIZE)).collect();
    let mut view = Canvas::new(size.0 * SIZE, size.1 * SIZE);
    for y in 0..size.1 {
        for x in 0..size.0 {
            let index = tile_index(map, corner.0 + x, corner.1 + y);
            view.draw(&all[index], x * SIZE, y * SIZE);
        }
    }
    view
}

/// The tile that the example shows for a cell.
fn tile_index(map: &Grid, x: i32, y: i32) -> usize {
    let city = map.width == 192;
    let any = hash(1, x, y) as usize >> 4;
    let mask = |wanted: &dyn Fn(u8) -> bool| -> usize {
        let hit = |i: &usize| {
            let (cx, cy) = (x + SIDES[*i].0, y + SIDES[*i].1);
            map.contains(cx, cy) && wanted(map.get(cx, cy))
        };
        (0..4).filter(hit).map(|i| 1 << i).sum()
    };
    match map.get(x, y) {
        b'G' => match mask(&|c| c == b'.') {
            0 if any.is_multiple_of(9) => 5 + any / 9 % 3,
            0 => any % 5,
            roads => 96 + roads,
        },
        b'.' => match bridge(map, x, y) {
            Some(tile) => tile,
            None if city => 20 + any % 4,
            None => 8 + any % 8,
        },
        b'W' => match mask(&|c| c != b'W') {
            0 => 24 + any % 8,
            land => 48 + land,
        },
        b'T' => 32 + any % 8,
        b'S' => match mask(&|c| matches!(c, b'G' | b'T' | b'.' | b'@')) {
            0 => 16 + any % 4,
            land => 120 + land,
        },
        b'@' => [64, 80][usize::from(city)] + mask(&|c| c != b'@'),
        _ => 40 + any % 4,
    }
}

/// The bridge tile, if water is near on two opposite sides.
fn bridge(map: &Grid, x: i32, y: i32) -> Option<usize> {
    let water = |dx: i32, dy: i32| {
        let cells = (1..=3).map(|i| map.get(x + dx * i, y + dy * i));
        let hit = cells.take_while(|c| matches!(c, b'.' | b'W'));
        hit.into_iter().any(|c| c == b'W')
    };
    let next = |dx: i32, dy: i32| usize::from(map.get(x + dx, y + dy) == b'W');
    if water(0, -1) && water(0, 1) {
        Some([113, 112, 114, 44][next(0, -1) + 2 * next(0, 1)])
    } else if water(-1, 0) && water(1, 0) {
        Some([116, 115, 117, 45][next(-1, 0) + 2 * next(1, 0)])
    } else {
        None
    }
}

/// Puts a unit on some cells that suit it, a few with marks.
fn populate(view: &mut Canvas, map: &Grid, corner: (i32, i32), critters: &Canvas, marks: &Canvas) {
    let part = |sheet: &Canvas, column: u32, row: u32| {
        sheet.part(column as i32 * SIZE, row as i32 * SIZE, SIZE, SIZE)
    };
    for i in 0..VIEW.0 * VIEW.1 {
        let (x, y) = (i % VIEW.0, i / VIEW.0);
        let chance = hash(9, x, y);
        let kind = match map.get(corner.0 + x, corner.1 + y) {
            b'W' => 3 + chance / 64 % 2,
            b'.' | b'G' | b'S' => [0, 1, 2, 4][(chance / 64 % 4) as usize],
            _ => continue,
        };
        if !chance.is_multiple_of(16) {
            continue;
        }
        let (px, py) = (x * SIZE, y * SIZE);
        if chance.is_multiple_of(48) {
            view.draw(&part(marks, 0, 0), px, py);
        }
        let frame = part(critters, chance / 512 % 8, kind * 2 + chance / 4096 % 2);
        view.draw(&frame, px, py);
        if chance.is_multiple_of(80) {
            view.draw(&part(marks, 1 + chance / 1024 % 6, 0), px, py - SIZE);
        }
    }
}
