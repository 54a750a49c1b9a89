//! Writing figures to a folder: each as a picture, and as the numbers in it.

use std::path::Path;

use cento_view::Figure;

use crate::failure::Failure;

pub(crate) fn write_figures(folder: &Path, figures: &[(&str, Figure)]) -> Result<(), Failure> {
    let failed = |error: &std::io::Error| {
        Failure::missing(
            format!("{}: {error}", folder.display()),
            "choose a place that you may write to, with room for it".to_owned(),
        )
    };
    std::fs::create_dir_all(folder).map_err(|error| failed(&error))?;
    for (name, figure) in figures {
        for (ending, content) in [("svg", figure.svg()), ("csv", figure.csv())] {
            let path = folder.join(format!("{name}.{ending}"));
            std::fs::write(path, content).map_err(|error| failed(&error))?;
        }
    }
    let count = match figures.len() {
        1 => "1 figure".to_owned(),
        count => format!("{count} figures"),
    };
    eprintln!("{}: {count}, as SVG and as CSV", folder.display());
    Ok(())
}
