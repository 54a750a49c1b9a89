//! The option `--top`: how many rows a command shows.

use std::fmt;
use std::str::FromStr;

use clap::Args;

/// How many rows are shown of a table.
#[derive(Debug, Args)]
pub(crate) struct TopArguments {
    /// Number of rows to show of each table, or all
    #[arg(long, value_name = "N", default_value_t = Top(Some(10)), help_heading = "Output")]
    pub(crate) top: Top,
}

impl TopArguments {
    /// Returns the most rows to show.
    pub(crate) fn rows(&self) -> usize {
        self.top.rows()
    }
}

/// A number of rows; `None` is all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Top(pub(crate) Option<usize>);

impl Top {
    /// Returns the most rows to show.
    pub(crate) fn rows(self) -> usize {
        self.0.unwrap_or(usize::MAX)
    }
}

impl FromStr for Top {
    type Err = String;

    fn from_str(text: &str) -> Result<Top, String> {
        match text {
            "all" => Ok(Top(None)),
            number => match number.parse() {
                Ok(rows) if rows > 0 => Ok(Top(Some(rows))),
                _ => Err("use a number from 1 on, or `all`".to_owned()),
            },
        }
    }
}

impl fmt::Display for Top {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(rows) => rows.fmt(formatter),
            None => formatter.write_str("all"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Top;

    #[test]
    fn rows_are_a_number_or_all() {
        assert_eq!("5".parse(), Ok(Top(Some(5))));
        assert_eq!("all".parse(), Ok(Top(None)));
        for text in ["0", "-1", "", "none", "1.5"] {
            assert!(text.parse::<Top>().is_err(), "{text}");
        }
        assert_eq!((Top(None).rows(), Top(Some(3)).rows()), (usize::MAX, 3));
    }
}
