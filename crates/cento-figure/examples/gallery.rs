//! Draws every kind of figure of cento from synthetic data, and some extreme ones.
//!
//! `cargo run -p cento-figure --example gallery -- DIR` writes an SVG, a PDF and a CSV for each,
//! and an `index.html` that shows them all.

use cento_figure::{Axis, Figure, Mark, NumberFormat, Region, Rule, STYLE, Series};
use std::fmt::Write as _;
use std::path::Path;

/// A deterministic pseudo-random generator.
struct Chance(u64);

impl Chance {
    /// Returns a number from 0 to 1.
    fn share(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns an approximately normal number with mean 0 and deviation 1.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.share()).sum::<f64>() - 6.0
    }
}

fn main() -> std::io::Result<()> {
    let folder = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "gallery".to_owned());
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    let mut page = format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<title>Gallery</title>\n<style>{STYLE}body{{margin:0;background:#888}}\
         svg{{display:block;margin:8px}}</style>\n"
    );
    for (name, figure) in figures() {
        let svg = figure.svg();
        println!("{name}: {} bytes", svg.len());
        std::fs::write(folder.join(format!("{name}.svg")), svg)?;
        std::fs::write(folder.join(format!("{name}.csv")), figure.csv())?;
        std::fs::write(folder.join(format!("{name}.pdf")), figure.pdf())?;
        let _ = write!(page, "{}", figure.svg_for_page());
    }
    std::fs::write(folder.join("index.html"), page)
}

fn figures() -> Vec<(&'static str, Figure)> {
    vec![
        ("01-replicas", replicas()),
        ("02-popularity", popularity()),
        ("03-popular-shingles", popular_shingles()),
        ("04-cover", cover()),
        ("05-sites", sites()),
        ("06-quilts", quilts()),
        ("07-files", files()),
        ("08-chunks", chunks()),
        ("09-badness", badness()),
        ("10-badness-cumulative", badness_cumulative()),
        ("11-savings", savings()),
        ("12-kinds", kinds()),
        ("13-cover-discs", cover_discs()),
        ("14-site-errors", site_errors()),
        ("15-gaps", gaps()),
        ("16-pivot", pivot()),
        ("17-mirrors", mirrors()),
        ("18-roc", roc()),
        ("19-bins", bins()),
        ("20-empty", empty()),
        ("21-one-point", one_point()),
        ("22-hostile", hostile()),
        ("23-scripts", scripts()),
        ("24-extremes", extremes()),
        ("25-many", many()),
        ("26-crowded", crowded()),
        ("27-mirrors-in-a-cloud", mirrors_in_a_cloud()),
    ]
}

fn replicas() -> Figure {
    let names = [
        "1",
        "2",
        "3",
        "4–5",
        "6–10",
        "11–100",
        "101–1,000",
        "> 1,000",
    ];
    Figure::new(
        "How often are pages replicated?",
        Axis::of_categories("Replicas, including the page itself", names),
        Axis::linear("Share of all pages").format(NumberFormat::Share),
    )
    .caption("64% of all pages have no exact duplicate. The looser the comparison, the more pages have replicas.")
    .series(Series::columns("exact", [0.64, 0.18, 0.05, 0.04, 0.03, 0.045, 0.012, 0.003]))
    .series(Series::columns("four lines", [0.58, 0.19, 0.06, 0.045, 0.04, 0.06, 0.02, 0.005]))
    .series(Series::columns("two lines", [0.52, 0.2, 0.07, 0.055, 0.045, 0.075, 0.026, 0.009]))
}

fn popularity() -> Figure {
    let mut chance = Chance(1);
    let bins = (0..28).map(|bin| {
        let (from, to) = (
            10f64.powf(f64::from(bin) / 4.0),
            10f64.powf(f64::from(bin + 1) / 4.0),
        );
        let count = 2e9 * from.powf(-1.25) * (1.0 + 0.3 * chance.normal()).max(0.1);
        (from.round(), to.round(), count.round())
    });
    let bins: Vec<_> = bins.filter(|(from, to, _)| from < to).collect();
    Figure::new(
        "Popularity of phrases",
        Axis::log10("Pages with the phrase").format(NumberFormat::Count),
        Axis::log10("Phrases").format(NumberFormat::Count),
    )
    .caption("Each bar counts the phrases of five words on a range of pages. Nearly all are on one page; those to the right of the line are popular.")
    .series(Series::histogram("phrases", bins))
    .rule(Rule::vertical(5.0, "popular: 5 pages"))
}

fn popular_shingles() -> Figure {
    let mut chance = Chance(2);
    let counts: Vec<f64> = (0..84)
        .map(|n| (3e7 * f64::from(n + 1).powf(-1.9) * (1.0 + 0.1 * chance.normal())).round())
        .collect();
    let total: f64 = counts.iter().sum();
    let mut left = total;
    let at_least = counts.iter().enumerate().map(move |(n, count)| {
        let share = left / total;
        left -= count;
        (n as f64, share)
    });
    Figure::new(
        "Popular shingles of a page",
        Axis::linear("Popular shingles, of 84").format(NumberFormat::Count),
        Axis::log10("Pages with at least this many").format(NumberFormat::Share),
    )
    .caption("One page in a thousand has at least thirty popular shingles. The pages at the right consist of popular phrases.")
    .series(Series::new("pages", Mark::Steps, at_least.collect::<Vec<_>>()))
    .rule(Rule::vertical(30.0, "covering sets: 30 or more"))
}

fn cover() -> Figure {
    let mut chance = Chance(3);
    let points: Vec<_> = (0..1_000_000)
        .map(|_| {
            let popular = 30.0 + (54.0 * chance.share().powf(1.7)).round();
            let size =
                (1.0 + popular * chance.share().powf(3.0) * 0.9 + chance.normal().abs()).round();
            (popular, size.min(popular))
        })
        .collect();
    Figure::new(
        "How many pages cover the popular shingles of a page?",
        Axis::linear("Popular shingles of the page").format(NumberFormat::Count),
        Axis::linear("Smallest set of pages that has them all").format(NumberFormat::Count),
    )
    .caption("One or two other pages cover a page at the bottom; it takes many to cover one near the diagonal.")
    .series(Series::new("pages", Mark::Points, points))
}

fn sites() -> Figure {
    let mut chance = Chance(4);
    let points: Vec<_> = (0..420)
        .map(|_| {
            let mean = 30.0 + 45.0 * chance.share().powf(2.2);
            (
                mean,
                (4.0 + 16.0 * chance.share() + 3.0 * chance.normal()).abs(),
            )
        })
        .collect();
    Figure::new(
        "Sites by their popular shingles",
        Axis::linear("Mean popular shingles per page").covering(84.0),
        Axis::linear("Standard deviation").covering(30.0),
    )
    .caption("Each dot is a site with at least ten pages. The pages of sites at the lower right consist of popular phrases.")
    .series(Series::new("sites", Mark::Points, points))
    .region(Region { label: "flagged: mean ≥ 50, deviation < 8".into(), x: (Some(50.0), None), y: (Some(0.0), Some(8.0)) })
    .note(74.0, 3.1, "spam.example")
    .note(66.0, 6.5, "weather.example")
}

fn quilts() -> Figure {
    let series = |name: &str, factor: f64, decay: f64| {
        let points = (2..=10).map(|c| {
            (
                f64::from(c),
                (factor * (-decay * f64::from(c)).exp()).round(),
            )
        });
        Series::new(name, Mark::Line, points.collect::<Vec<_>>())
    };
    Figure::new(
        "How many quilts are there, by minimum number of sources?",
        Axis::linear("c: minimum number of sources").format(NumberFormat::Count),
        Axis::log10("Quilts").format(NumberFormat::Count),
    )
    .caption(
        "The stricter the parameters, the fewer quilts. The ring marks the default parameters.",
    )
    .series(series("θ = 0.3", 9e7, 0.55))
    .series(series("θ = 0.5", 4e7, 0.78))
    .series(series("θ = 0.7", 2e7, 1.0))
    .series(series("θ = 0.9", 1.8e7, 1.05))
    .note(
        4.0,
        (4e7f64 * (-0.78f64 * 4.0).exp()).round(),
        "k = 5, m = 50, c = 4, θ = 0.5",
    )
}

fn heavy_tail(seed: u64, scale: f64, slope: f64, until: f64) -> Vec<(f64, f64)> {
    let mut chance = Chance(seed);
    let mut points = Vec::new();
    let mut n: f64 = 1.0;
    while n < until {
        let expected = scale * n.powf(-slope);
        let count = if expected > 3.0 {
            expected * (1.0 + 0.25 * chance.normal())
        } else {
            (4.0 * chance.share().powf(4.0)).floor()
        };
        points.push((n, count.round().max(0.0)));
        n = (n * 1.004 + chance.share() * 0.5).ceil().max(n + 1.0);
    }
    points
}

fn files() -> Figure {
    let copies = [
        (90.0, 1.0),
        (180.0, 1.0),
        (1_080.0, 1.0),
        (11_000.0, 1.0),
        (108_000.0, 1.0),
    ];
    Figure::new(
        "How often do files occur?",
        Axis::log10("Occurrences of a file").format(NumberFormat::Count),
        Axis::log10("Distinct files").format(NumberFormat::Count),
    )
    .caption("Each dot shows how many distinct files occur a given number of times. Files to the right of the line are discovered; triangles were injected.")
    .series(Series::new("files", Mark::Points, heavy_tail(5, 3e7, 1.9, 2e6)))
    .series(Series::new("injected", Mark::Points, copies))
    .rule(Rule::vertical(1e3, "discovered: 1,000 or more"))
    .note(108_000.0, 1.0, "a copied blog")
    .note(1_400_000.0, 1.0, "robots.txt")
    .note(700_000.0, 2.0, "jquery.min.js")
}

fn chunks() -> Figure {
    Figure::new(
        "How often do chunks occur?",
        Axis::log10("Occurrences of a chunk").format(NumberFormat::Count),
        Axis::log10("Distinct chunks").format(NumberFormat::Count),
    )
    .caption("Each dot shows how many distinct chunks occur a given number of times. Chunks to the right of the line are discovered.")
    .series(Series::new("chunks", Mark::Points, heavy_tail(6, 4e9, 2.1, 5e8)))
    .rule(Rule::vertical(1e5, "discovered: 10⁵ or more"))
    .note(2.4e8, 1.0, "empty paragraph")
}

fn badness_bins() -> Vec<(f64, f64, f64)> {
    let mut chance = Chance(7);
    (0..50)
        .map(|bin| {
            let from = f64::from(bin) / 50.0;
            let shape =
                7.98e7 * (-14.0 * from).exp() + if bin == 49 { 900_000.0 } else { 12_000.0 };
            (
                from,
                f64::from(bin + 1) / 50.0,
                (shape * (1.0 + 0.2 * chance.normal())).round().abs(),
            )
        })
        .collect()
}

fn badness() -> Figure {
    Figure::new(
        "Badness of neighbourhoods",
        Axis::linear("Share of bad chunks in the neighbourhood").format(NumberFormat::Share),
        Axis::log10("Neighbourhoods").format(NumberFormat::Count),
    )
    .caption("Most neighbourhoods have no bad chunk. Those right of the line are bad as a whole; the last bar is copied from end to end.")
    .series(Series::histogram("neighbourhoods", badness_bins()))
    .rule(Rule::vertical(0.163, "bad: mean + 3 deviations"))
}

fn badness_cumulative() -> Figure {
    let total: f64 = badness_bins().iter().map(|bin| bin.2).sum();
    let mut sum = 0.0;
    let mut points = vec![(0.0, 0.0)];
    points.extend(badness_bins().into_iter().map(|(_, to, count)| {
        sum += count;
        (to, sum / total)
    }));
    let other = points
        .iter()
        .map(|(x, y)| (*x, y.powf(2.5)))
        .collect::<Vec<_>>();
    Figure::new(
        "Badness of neighbourhoods, cumulated",
        Axis::linear("Share of bad chunks in the neighbourhood").format(NumberFormat::Share),
        Axis::linear("Neighbourhoods with no more")
            .format(NumberFormat::Share)
            .covering(0.0)
            .covering(1.0),
    )
    .caption("The earlier a line reaches the top, the cleaner the crawl.")
    .series(Series::new("Common Crawl", Mark::Steps, points))
    .series(Series::new("Geocities", Mark::Steps, other))
    .rule(Rule::vertical(0.163, "bad"))
    .rule(Rule::horizontal(0.91, "91% are not bad"))
}

fn savings() -> Figure {
    Figure::new(
        "What the next crawl need not fetch",
        Axis::linear("Share that is saved")
            .format(NumberFormat::Share)
            .covering(0.0),
        Axis::of_categories(
            "",
            [
                "Exact copies",
                "Copies but for four lines",
                "Copies but for two lines",
            ],
        ),
    )
    .caption(
        "If one page of each group of copies is fetched and the rest skipped, so much is saved.",
    )
    .series(Series::rows("of pages", [0.22, 0.28, 0.33]))
    .series(Series::rows("of bytes", [0.149, 0.204, 0.262]))
}

fn kinds() -> Figure {
    let names = [
        "2021-04", "2021-10", "2022-05", "2022-11", "2023-06", "2023-12",
    ];
    Figure::new(
        "What the crawls consist of",
        Axis::of_categories("Crawl", names),
        Axis::linear("Bytes of text").format(NumberFormat::Bytes),
    )
    .caption("Stacked: the whole bar is the whole crawl.")
    .series(Series::columns("unique", [41e9, 44e9, 47e9, 52e9, 50e9, 61e9]).drawn_as(Mark::Stacked))
    .series(
        Series::columns(
            "copied within the site",
            [22e9, 24e9, 31e9, 30e9, 36e9, 33e9],
        )
        .drawn_as(Mark::Stacked),
    )
    .series(
        Series::columns(
            "copied from elsewhere",
            [9e9, 9.5e9, 12e9, 15e9, 21e9, 27e9],
        )
        .drawn_as(Mark::Stacked),
    )
}

fn cover_discs() -> Figure {
    let mut chance = Chance(11);
    let mut discs = Vec::new();
    for popular in 30..=84u32 {
        let mut left: f64 = 50.0;
        let mut size = 1.0;
        while left >= 1.0 {
            let pages = (left * (0.2 + 0.5 * chance.share())).ceil();
            left -= pages;
            let foreign =
                (0.4 + f64::from(popular) / 150.0 + 0.1 * chance.normal()).clamp(0.0, 1.0);
            discs.push((f64::from(popular), size, pages, foreign));
            size += 1.0 + (3.0 * chance.share()).floor();
        }
    }
    Figure::new(
        "How many pages cover the popular shingles of a page?",
        Axis::linear("Popular shingles of the page").format(NumberFormat::Count),
        Axis::linear("Pages of the covering set").format(NumberFormat::Count),
    )
    .caption("Fifty pages for each number of popular shingles. If the inner disc fills the outer one, all is from other sites.")
    .areas("pages", "share that is from other sites")
    .series(Series::discs("covers", discs))
}

fn site_errors() -> Figure {
    let mut chance = Chance(12);
    let mut sites = Vec::new();
    let mut names = Vec::new();
    for index in 0..70 {
        let mean = 30.0 + 45.0 * chance.share().powf(2.0);
        let pages = (10.0 * 10f64.powf(3.0 * chance.share().powf(1.5))).round();
        sites.push((mean, pages, 2.0 + 12.0 * chance.share()));
        names.push(format!("site-{index}.example"));
    }
    sites.push((66.0, 1_070_000.0, 5.0));
    names.push("spam.example".to_owned());
    sites.reverse();
    names.reverse();
    names.iter_mut().skip(8).for_each(String::clear);
    Figure::new(
        "Sites by their popular shingles",
        Axis::linear("Mean popular shingles per page").covering(84.0),
        Axis::log10("Pages").format(NumberFormat::Count),
    )
    .caption("A dot is a site of ten pages or more; the bar is its standard deviation. The largest sites are named.")
    .series(Series::with_x_errors("sites", sites).named(names))
}

fn gaps() -> Figure {
    let some = [0, 1, 2, 3, 4, 5, 7, 8, 12, 13, 14, 30, 31, 32, 60, 84];
    let points = some.map(|n: u32| (f64::from(n), 0.4 * (-0.1 * f64::from(n)).exp()));
    Figure::new(
        "Popular shingles of a page",
        Axis::linear("Popular shingles, of 84").format(NumberFormat::Count),
        Axis::log10("Share of all pages").format(NumberFormat::Share),
    )
    .caption("Numbers that no page has are gaps.")
    .series(Series::new("pages", Mark::Line, points).joined_within(1.0))
    .rule(Rule::vertical(30.0, "covered: 30 or more"))
}

fn pivot() -> Figure {
    let points = (2..=10).map(|k| (f64::from(k), (9e6 * (-0.3 * f64::from(k)).exp()).round()));
    let points: Vec<_> = points.collect();
    let at_pivot: Vec<_> = points.iter().copied().filter(|(k, _)| *k == 5.0).collect();
    Figure::new(
        "Quilted pages by k",
        Axis::linear("k: words of a gram").format(NumberFormat::Count),
        Axis::linear("Quilted pages")
            .format(NumberFormat::Count)
            .covering(0.0),
    )
    .caption("The pivot is the definition that the other sweeps share.")
    .series(Series::new("quilts", Mark::Line, points))
    .series(Series::new("pivot", Mark::Points, at_pivot))
}

fn shares() -> Figure {
    let share = |label: &str| {
        let axis = Axis::linear(label).format(NumberFormat::Share);
        axis.covering(0.0).covering(1.0)
    };
    Figure::new(
        "How much of two servers is in each other?",
        share("Of the one that is more in the other"),
        share("Of the other"),
    )
    .caption("A dot is a pair of servers. At the upper right are mirrors.")
}

fn mirrors() -> Figure {
    let mut chance = Chance(13);
    let mut pairs = vec![(1.0, 1.0); 20];
    pairs.extend([(1.0, 0.0); 3]);
    pairs.extend((0..30).map(|_| {
        let larger = chance.share();
        (larger, larger * chance.share())
    }));
    shares().series(Series::new("pairs", Mark::Points, pairs))
}

fn mirrors_in_a_cloud() -> Figure {
    let mut chance = Chance(14);
    let mut pairs = vec![(1.0, 1.0); 20];
    pairs.extend((0..3_000).map(|_| {
        let larger = chance.share().sqrt();
        (larger, larger * chance.share())
    }));
    shares().series(Series::new("pairs", Mark::Points, pairs))
}

fn roc() -> Figure {
    let curve = |power: f64| {
        (0..=50).map(move |n| (f64::from(n) / 50.0, (f64::from(n) / 50.0).powf(power)))
    };
    let share = |label: &str| {
        let axis = Axis::linear(label).format(NumberFormat::Share);
        axis.covering(0.0).covering(1.0)
    };
    Figure::new(
        "How well do scores separate copied neighbourhoods?",
        share("Share of clean ones that are flagged"),
        share("Share of copied ones that are flagged"),
    )
    .caption("The further a curve is above the diagonal, the better.")
    .series(Series::new("mean of pages", Mark::Steps, curve(0.08)))
    .series(Series::new("ratio of chunks", Mark::Steps, curve(0.2)))
    .series(Series::new(
        "by chance",
        Mark::Line,
        [(0.0, 0.0), (1.0, 1.0)],
    ))
}

fn bins() -> Figure {
    let mut bins = cento_figure::Bins::new(20);
    for whole in 1..=60u64 {
        (0..=whole).for_each(|part| bins.add_many(part, whole, 1 + part % 3));
    }
    Figure::new(
        "Patch fractions",
        Axis::linear("Patch fraction").format(NumberFormat::Share),
        Axis::linear("Pages").format(NumberFormat::Count),
    )
    .caption("Shares are sorted into bins by whole numbers.")
    .series(bins.series("pages"))
    .rule(Rule::vertical(0.5, "quilted from 0.5 up"))
}

fn empty() -> Figure {
    Figure::new(
        "A corpus without copies",
        Axis::log10("Occurrences"),
        Axis::log10("Chunks"),
    )
    .caption("Nothing was found that could be shown here.")
    .series(Series::new(
        "chunks",
        Mark::Points,
        [(0.0, 1.0), (f64::NAN, 2.0), (f64::INFINITY, 3.0)],
    ))
    .rule(Rule::vertical(10.0, "threshold"))
}

fn one_point() -> Figure {
    Figure::new(
        "One chunk",
        Axis::log10("Occurrences").format(NumberFormat::Count),
        Axis::linear("Chunks").format(NumberFormat::Count),
    )
    .caption("A single point has a picture too.")
    .series(Series::new("chunks", Mark::Points, [(7.0, 1.0)]))
}

fn hostile() -> Figure {
    let long = "https://a.example/".to_owned() + &"very-long-path/".repeat(40);
    let names = [
        "</text><script>alert(1)</script>",
        "\" onload=\"alert(1)",
        "\u{202E}gpj.exe\u{0}\u{1b}[31m",
        &long,
    ];
    Figure::new(
        format!("<script>alert('title')</script> & {long}"),
        Axis::linear("<image href='http://evil.example/'/> share").format(NumberFormat::Share),
        Axis::of_categories("]]> <!-- site", names),
    )
    .caption(
        "&lt; is not <, and -->]]> ends nothing. =HYPERLINK(\"http://evil.example\") is only text.",
    )
    .series(Series::rows("=cmd|' /C calc'!A0", [0.1, 0.9, 0.5, 0.33]))
    .series(Series::rows(long.clone(), [0.3, 0.02, f64::NAN, 0.0]))
}

fn scripts() -> Figure {
    let names = [
        "新闻聚合网站",
        "ニュースのまとめサイト",
        "موقع إخباري للنسخ",
        "אתר חדשות (עותקים)",
        "Агрегатор новостей",
        "हिन्दी समाचार",
    ];
    Figure::new(
        "各网站中被复制的页面所占的比例：这是一个非常长的标题，用来检查没有空格的文字是否会正确换行而不会超出图片的边界。",
        Axis::of_categories("网站", names),
        Axis::linear("צפיות, נתח מתוך הכול (%)").format(NumberFormat::Share),
    )
    .caption("نسبة الصفحات المنسوخة في كل موقع، مقارنة بالعدد الكلي للصفحات.")
    .series(Series::columns("精确复制", [0.3, 0.25, 0.2, 0.5, 0.1, 0.3]))
    .series(Series::columns("עותקים מקורבים", [0.4, 0.35, 0.3, 0.6, 0.2, 0.35]))
    .rule(Rule::horizontal(0.45, "حد الإبلاغ"))
}

fn extremes() -> Figure {
    Figure::new(
        "Numbers of all sizes",
        Axis::log10("From tiny to huge"),
        Axis::linear("Below and above zero"),
    )
    .caption("Lines break where a value is missing.")
    .series(Series::new(
        "broken",
        Mark::Line,
        [
            (1e-300, -1e17),
            (1e-200, 3e17),
            (1e-100, f64::NAN),
            (1.0, 2e17),
            (0.0, 1.0),
            (1e100, -3e17),
            (1e300, 1e17),
        ],
    ))
    .series(Series::new(
        "steady",
        Mark::Line,
        [(1e-280, 2e17), (1e290, -2e17)],
    ))
}

fn many() -> Figure {
    let names: Vec<String> = (0..40).map(|n| format!("site-{n}.example")).collect();
    let mut chance = Chance(9);
    Figure::new(
        "Many names below an axis",
        Axis::of_categories("Site", names),
        Axis::log10("Copied pages").format(NumberFormat::Count),
    )
    .caption("Names that do not fit are slanted, and cut where they are long.")
    .series(Series::columns(
        "pages",
        (0..40).map(|n| (1e6 * (-0.3 * f64::from(n)).exp() * (1.0 + chance.share())).round()),
    ))
}

fn crowded() -> Figure {
    let mut figure = Figure::new(
        "Too many of everything",
        Axis::linear("x"),
        Axis::linear("y"),
    )
    .caption("Twenty series, ten rules close together, and notes that all want the same place.");
    for index in 0..20 {
        let points = (0..30).map(|x| {
            (
                f64::from(x),
                (f64::from(x) / 4.0 + f64::from(index)).sin() * f64::from(index),
            )
        });
        figure = figure.series(Series::new(
            format!("series number {index}"),
            Mark::Line,
            points.collect::<Vec<_>>(),
        ));
    }
    for index in 0..10 {
        figure = figure.rule(Rule::vertical(
            14.0 + f64::from(index) / 5.0,
            format!("rule {index}"),
        ));
        figure = figure.note(15.0 + f64::from(index) / 50.0, 0.0, format!("note {index}"));
    }
    figure
}
