//! A coarse map of where data are drawn, so that labels can avoid them.

use crate::canvas::Area;

const CELL: f64 = 4.0;

/// A grid over the page: whether each cell is drawn on.
#[derive(Clone, Debug)]
pub(crate) struct Ink {
    columns: usize,
    cells: Vec<bool>,
}

impl Ink {
    pub(crate) fn new(width: f64, height: f64) -> Ink {
        let columns = (width / CELL).ceil() as usize + 1;
        let rows = (height / CELL).ceil() as usize + 1;
        Ink {
            columns,
            cells: vec![false; columns * rows],
        }
    }

    pub(crate) fn dot(&mut self, x: f64, y: f64) {
        let (column, row) = ((x / CELL) as usize, (y / CELL) as usize);
        if column < self.columns
            && let Some(cell) = self.cells.get_mut(row * self.columns + column)
        {
            *cell = true;
        }
    }

    pub(crate) fn fill(&mut self, area: &Area) {
        for row in (area.top / CELL) as usize..=(area.bottom / CELL) as usize {
            for column in (area.left / CELL) as usize..=(area.right / CELL) as usize {
                self.dot((column as f64 + 0.5) * CELL, (row as f64 + 0.5) * CELL);
            }
        }
    }

    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64)) {
        let steps = ((to.0 - from.0).abs().max((to.1 - from.1).abs()) / CELL)
            .ceil()
            .clamp(1.0, 2_000.0);
        for step in 0..=steps as usize {
            let share = step as f64 / steps;
            self.dot(
                from.0 + (to.0 - from.0) * share,
                from.1 + (to.1 - from.1) * share,
            );
        }
    }

    /// Returns how many cells of an area are drawn on.
    pub(crate) fn beneath(&self, area: &Area) -> usize {
        let rows = (area.top / CELL) as usize..=(area.bottom / CELL) as usize;
        let columns =
            (area.left / CELL) as usize..=((area.right / CELL) as usize).min(self.columns - 1);
        rows.flat_map(|row| columns.clone().map(move |column| (row, column)))
            .filter(|(row, column)| {
                self.cells
                    .get(row * self.columns + column)
                    .copied()
                    .unwrap_or(false)
            })
            .count()
    }
}
