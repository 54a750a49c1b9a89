//! The data of a figure as CSV.

use crate::figure::{Axis, Figure, Mark, Point, Series};
use crate::text::clean;

/// Writes all data, one row per point, in their order, including those that the picture omits.
pub(crate) fn csv(figure: &Figure) -> String {
    let has = |of: fn(&Series) -> bool| figure.series.iter().any(of);
    let bins = has(|series| series.mark == Mark::Histogram);
    let discs = has(|series| series.mark == Mark::Discs);
    let bars = has(|series| {
        let with_bar = |point: &Point| point.x_error != 0.0 || point.y_error != 0.0;
        series.mark == Mark::Points && series.points.iter().any(with_bar)
    });
    let names = has(|series| !series.names.is_empty());
    let mut columns = vec!["series", "x"];
    columns.extend(bins.then_some("x_end"));
    columns.push("y");
    columns.extend(discs.then_some(["size", "part"]).into_iter().flatten());
    columns.extend(bars.then_some(["x_error", "y_error"]).into_iter().flatten());
    columns.extend(names.then_some("name"));
    let mut out = columns.join(",") + "\r\n";
    for series in &figure.series {
        let name = quoted(&series.name);
        // A value that a series does not have is an empty cell.
        let only = |mark: Mark, value: f64| match series.mark == mark {
            true => number(value),
            false => String::new(),
        };
        for (index, point) in series.points.iter().enumerate() {
            let mut cells = vec![name.clone(), cell(&figure.x, point.x)];
            cells.extend(bins.then(|| only(Mark::Histogram, point.end)));
            cells.push(cell(&figure.y, point.y));
            if discs {
                cells.extend([point.size, point.part].map(|value| only(Mark::Discs, value)));
            }
            if bars {
                cells.extend([point.x_error, point.y_error].map(|value| only(Mark::Points, value)));
            }
            if names {
                cells.push(
                    series
                        .names
                        .get(index)
                        .map_or_else(String::new, |name| quoted(name)),
                );
            }
            out.push_str(&cells.join(","));
            out.push_str("\r\n");
        }
    }
    out
}

fn cell(axis: &Axis, value: f64) -> String {
    let name = axis
        .categories()
        .filter(|_| value.fract() == 0.0 && value >= 0.0)
        .and_then(|names| names.get(value as usize));
    name.map_or_else(|| number(value), |name| quoted(name))
}

/// Formats the shortest digits that parse as the same number.
fn number(value: f64) -> String {
    let magnitude = value.abs();
    if value.is_finite() && magnitude != 0.0 && !(1e-5..1e17).contains(&magnitude) {
        format!("{value:e}")
    } else {
        format!("{value}")
    }
}

/// A name in a figure as a cell, without control characters.
fn quoted(text: &str) -> String {
    csv_cell(&clean(text))
}

/// Returns a text as a cell of a CSV file (RFC 4180) that no spreadsheet evaluates.
///
/// A spreadsheet treats a cell that begins with one of `= + - @` as a formula, and the texts come
/// from untrusted pages. Such a cell gets an apostrophe in front. So does one that begins with an
/// apostrophe: a reader that removes the first apostrophe always gets the original text.
///
/// ```
/// assert_eq!(cento_figure::csv_cell("plain"), "plain");
/// assert_eq!(cento_figure::csv_cell("a,b"), "\"a,b\"");
/// assert_eq!(cento_figure::csv_cell("=1+1"), "\"'=1+1\"");
/// ```
pub fn csv_cell(text: &str) -> String {
    let formula = text.starts_with([
        '=', '+', '-', '@', '\'', '\t', '\r', '＝', '＋', '－', '＠', '−', '﹢', '﹣', '﹦', '﹫',
    ]);
    if !formula && !text.contains(['"', ',', ';', '\n', '\r']) {
        return text.to_owned();
    }
    let guard = if formula { "'" } else { "" };
    format!("\"{guard}{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Parses RFC 4180.
    fn read(table: &str) -> Vec<Vec<String>> {
        let mut rows = vec![];
        let (mut row, mut cell, mut inside) = (vec![], String::new(), false);
        let mut letters = table.chars().peekable();
        while let Some(letter) = letters.next() {
            match letter {
                '"' if inside && letters.peek() == Some(&'"') => cell.extend(letters.next()),
                '"' => inside = !inside,
                ',' if !inside => row.push(std::mem::take(&mut cell)),
                '\r' if !inside => {}
                '\n' if !inside => {
                    row.push(std::mem::take(&mut cell));
                    rows.push(std::mem::take(&mut row));
                }
                _ => cell.push(letter),
            }
        }
        rows
    }

    #[test]
    fn untrusted_formulas_stay_text() {
        for name in [
            "=cmd|'/c calc'!A0",
            "+1",
            "-1+2",
            "@SUM(A1)",
            "\t=1",
            "\r\n=1",
            "\u{FEFF}=1",
            "＝1",
        ] {
            assert!(quoted(name).starts_with("\"'"), "{name:?}");
        }
        assert_eq!(quoted("a \"b\", c"), "\"a \"\"b\"\", c\"");
    }

    #[test]
    fn categories_are_written_by_name_and_bins_with_both_ends() {
        let axis = Axis::of_categories("replicas", ["1", "2–5"]);
        let figure = Figure::new("", axis, Axis::linear(""))
            .series(Series::columns("exact", [0.5, 0.25, f64::NAN]));
        assert_eq!(
            figure.csv(),
            "series,x,y\r\nexact,1,0.5\r\nexact,2–5,0.25\r\nexact,2,NaN\r\n"
        );
        let figure = Figure::new("", Axis::linear(""), Axis::linear(""))
            .series(Series::histogram("h", [(0.0, 1.0, 7.0)]));
        assert_eq!(figure.csv(), "series,x,x_end,y\r\nh,0,1,7\r\n");
    }

    proptest! {
        #[test]
        fn written_data_are_read_back(name in ".{0,20}", points in proptest::collection::vec(proptest::num::f64::ANY, 0..20)) {
            let data: Vec<(f64, f64)> = points.iter().map(|value| (*value, -*value)).collect();
            let figure = Figure::new("", Axis::linear(""), Axis::log10("")).series(Series::new(&name, Mark::Points, data.clone()));
            let rows = read(&figure.csv());
            prop_assert_eq!(rows.len(), data.len() + 1);
            for (row, (x, y)) in rows.iter().skip(1).zip(&data) {
                let known = clean(&name);
                let same = row[0] == known || row[0].strip_prefix('\'') == Some(known.as_str());
                prop_assert!(same);
                prop_assert!(!row[0].starts_with(['=', '+', '-', '@']));
                for (cell, value) in row[1..].iter().zip([x, y]) {
                    let back: f64 = cell.parse().unwrap();
                    prop_assert!(back.to_bits() == value.to_bits() || (back.is_nan() && value.is_nan()));
                }
            }
        }
    }
}
