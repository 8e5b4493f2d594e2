//! A map of terrain letters, and questions about how it hangs together.
//!
//! In: letters at cells. Out: Moving AI map text, connected parts, distances.

/// Cells next to a cell: north, east, south, west.
pub const SIDES: [(i32, i32); 4] = [(0, -1), (1, 0), (0, 1), (-1, 0)];

/// Terrain letters, row by row from the top.
#[derive(Clone, PartialEq, Debug)]
pub struct Grid {
    /// Cells across.
    pub width: i32,
    /// Cells down.
    pub height: i32,
    cells: Vec<u8>,
}

/// Cells that can be walked on.
pub fn walkable(letter: u8) -> bool {
    matches!(letter, b'.' | b'G' | b'S')
}

impl Grid {
    /// A map filled with one letter.
    pub fn new(width: i32, height: i32, letter: u8) -> Self {
        let cells = vec![letter; (width * height) as usize];
        Self { width, height, cells }
    }

    /// Is the cell on the map?
    pub fn contains(&self, x: i32, y: i32) -> bool {
        (0..self.width).contains(&x) && (0..self.height).contains(&y)
    }

    /// The letter at a cell; void outside.
    pub fn get(&self, x: i32, y: i32) -> u8 {
        if self.contains(x, y) { self.cells[(y * self.width + x) as usize] } else { b'O' }
    }

    /// Writes a letter, if the cell is on the map.
    pub fn set(&mut self, x: i32, y: i32, letter: u8) {
        if self.contains(x, y) {
            self.cells[(y * self.width + x) as usize] = letter;
        }
    }

    /// All cells, row by row.
    pub fn cells(&self) -> impl Iterator<Item = (i32, i32)> + use<> {
        let width = self.width;
        (0..width * self.height).map(move |i| (i % width, i / width))
    }

    /// Replaces every letter by `change(x, y, letter)`.
    pub fn change(&mut self, change: impl Fn(i32, i32, u8) -> u8) {
        for (x, y) in self.cells() {
            self.set(x, y, change(x, y, self.get(x, y)));
        }
    }

    /// Replaces the letters of a rectangle.
    pub fn fill(&mut self, (x, y, width, height): (i32, i32, i32, i32), letter: u8) {
        for cy in y..y + height {
            for cx in x..x + width {
                self.set(cx, cy, letter);
            }
        }
    }

    /// The file text.
    pub fn to_text(&self) -> String {
        let mut text = format!("type octile\nheight {}\nwidth {}\nmap\n", self.height, self.width);
        for row in self.cells.chunks(self.width as usize) {
            text.extend(row.iter().map(|letter| char::from(*letter)));
            text.push('\n');
        }
        text
    }

    /// Labels the 4-connected parts of the chosen cells.
    pub fn parts(&self, chosen: impl Fn(u8) -> bool) -> Parts {
        let mut labels = vec![None; self.cells.len()];
        let mut sizes = Vec::new();
        for start in self.cells() {
            let at = (start.1 * self.width + start.0) as usize;
            if labels[at].is_some() || !chosen(self.cells[at]) {
                continue;
            }
            labels[at] = Some(sizes.len());
            let (mut open, mut size) = (vec![start], 0);
            while let Some((x, y)) = open.pop() {
                size += 1;
                for (nx, ny) in SIDES.map(|(dx, dy)| (x + dx, y + dy)) {
                    let next = (ny * self.width + nx) as usize;
                    if self.contains(nx, ny) && labels[next].is_none() && chosen(self.cells[next]) {
                        labels[next] = Some(sizes.len());
                        open.push((nx, ny));
                    }
                }
            }
            sizes.push(size);
        }
        let width = self.width;
        Parts { labels, sizes, width }
    }

    /// Steps (4-connected) from each cell to the nearest chosen cell.
    pub fn distances(&self, chosen: impl Fn(u8) -> bool) -> Vec<i32> {
        let mut steps: Vec<i32> =
            self.cells.iter().map(|c| if chosen(*c) { 0 } else { i32::MAX }).collect();
        let mut open: Vec<(i32, i32)> =
            self.cells().filter(|(x, y)| chosen(self.get(*x, *y))).collect();
        let mut far = 0;
        while !open.is_empty() {
            far += 1;
            let mut next = Vec::new();
            for (x, y) in open {
                for (nx, ny) in SIDES.map(|(dx, dy)| (x + dx, y + dy)) {
                    let at = (ny * self.width + nx) as usize;
                    if self.contains(nx, ny) && steps[at] > far {
                        steps[at] = far;
                        next.push((nx, ny));
                    }
                }
            }
            open = next;
        }
        steps
    }
}

/// Connected parts of a map.
pub struct Parts {
    labels: Vec<Option<usize>>,
    /// Cells of each part.
    pub sizes: Vec<usize>,
    width: i32,
}

impl Parts {
    /// The part a cell belongs to.
    pub fn at(&self, x: i32, y: i32) -> Option<usize> {
        self.labels[(y * self.width + x) as usize]
    }

    /// The largest part.
    pub fn largest(&self) -> Option<usize> {
        (0..self.sizes.len()).max_by_key(|i| self.sizes[*i])
    }

    /// Cells of the largest part per hundred cells of all parts.
    #[cfg(test)]
    pub fn largest_percent(&self) -> usize {
        let all: usize = self.sizes.iter().sum();
        self.largest().map_or(0, |i| self.sizes[i] * 100 / all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_has_a_header_and_rows() {
        let grid = Grid::new(3, 2, b'G');
        let text = "type octile\nheight 2\nwidth 3\nmap\nGGG\nGGG\n";
        assert_eq!(grid.to_text(), text);
    }

    #[test]
    fn parts_and_distances_use_sides_only() {
        let mut grid = Grid::new(4, 2, b'G');
        grid.set(1, 0, b'W');
        grid.set(0, 1, b'W');
        let parts = grid.parts(walkable);
        assert_eq!(parts.sizes, vec![1, 5]);
        assert_eq!((parts.largest(), parts.largest_percent()), (Some(1), 83));
        assert_eq!(grid.distances(|c| c == b'W')[3], 2);
    }
}
