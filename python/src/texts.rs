//! Words, fingerprints, sketches and passages of texts.
//!
//! Offsets are those of Python strings, in characters, so that `text[begin:end]` is what was found.

use std::ops::Range;

use cento_align::{AlignSettings, Aligner, Document, Fold};
use cento_fingerprint::{
    Estimate, Scheme, Sketch, SketchParameters, Sketcher, grams, run_hash, word_hash,
};
use cento_text::content::{self, Selection};
use cento_text::html::{Extractor, Options};
use cento_text::words::for_each_word;
use pyo3::prelude::*;

use crate::errors;

/// A range of characters.
pub(crate) type Extent = (usize, usize);

/// Converts byte offsets that mostly ascend to character offsets, in one pass over the text.
pub(crate) struct CharOffsets<'t> {
    text: &'t str,
    bytes: usize,
    chars: usize,
}

impl<'t> CharOffsets<'t> {
    pub(crate) fn new(text: &'t str) -> CharOffsets<'t> {
        CharOffsets {
            text,
            bytes: 0,
            chars: 0,
        }
    }

    fn at(&mut self, offset: usize) -> usize {
        if offset < self.bytes {
            (self.bytes, self.chars) = (0, 0);
        }
        let between = self.text.get(self.bytes..offset).unwrap_or_default();
        self.chars += between.chars().count();
        self.bytes = offset;
        self.chars
    }

    pub(crate) fn range(&mut self, range: &Range<usize>) -> Extent {
        (self.at(range.start), self.at(range.end))
    }
}

/// The words of a text: begin, end and normal form.
#[pyfunction]
pub(crate) fn words(py: Python<'_>, text: &str) -> Vec<(usize, usize, String)> {
    py.detach(|| {
        let mut offsets = CharOffsets::new(text);
        let mut words = Vec::new();
        for_each_word(text, |word| {
            let (begin, end) = offsets.range(&word.range);
            words.push((begin, end, word.normal.to_owned()));
        });
        words
    })
}

/// The visible text of an HTML page, as `cento index` stores it.
#[pyfunction]
pub(crate) fn text_of_html(py: Python<'_>, html: &str, content: &str) -> PyResult<String> {
    let selection: Selection = content
        .parse()
        .map_err(|error| errors::usage(py, &format!("{error}")))?;
    Ok(py.detach(|| {
        let mut extractor = Extractor::new();
        let page = extractor.extract(html, &Options::default());
        if selection == Selection::All {
            return page.text.clone();
        }
        let mut selected = String::new();
        content::apply(&page.text, &content::select(page, selection), &mut selected);
        selected
    }))
}

/// The hashes of the words of a text, and their places.
fn hashed(text: &str) -> (Vec<u64>, Vec<Extent>) {
    let mut offsets = CharOffsets::new(text);
    let (mut hashes, mut places) = (Vec::new(), Vec::new());
    for_each_word(text, |word| {
        hashes.push(word_hash(word.normal));
        places.push(offsets.range(&word.range));
    });
    (hashes, places)
}

/// The fingerprints of a text by a scheme: hash, begin and end.
#[pyfunction]
pub(crate) fn fingerprints(
    py: Python<'_>,
    text: &str,
    scheme: &str,
) -> PyResult<Vec<(u64, usize, usize)>> {
    let scheme: Scheme = scheme
        .parse()
        .map_err(|error| errors::usage(py, &format!("{error}")))?;
    Ok(py.detach(|| {
        let (hashes, places) = hashed(text);
        let mut found = Vec::new();
        scheme.for_each(&hashes, |print| {
            let last = (print.position + print.words).saturating_sub(1);
            let begin = places.get(print.position).map_or(0, |place| place.0);
            let end = places
                .get(last)
                .or(places.last())
                .map_or(0, |place| place.1);
            found.push((print.hash, begin, end));
        });
        found
    }))
}

/// A passage that two texts share: its place in both, words, share of identical words, kind.
type PassageTuple = (Extent, Extent, usize, f64, &'static str);

/// The passages that two texts share.
#[pyfunction]
pub(crate) fn passages(
    py: Python<'_>,
    a: &str,
    b: &str,
    min_chars: usize,
    fold: &str,
) -> PyResult<Vec<PassageTuple>> {
    let fold = match fold {
        "none" => Fold::None,
        "ocr" => Fold::Ocr,
        other => {
            let message = format!("unknown fold `{other}`: use none or ocr");
            return Err(errors::usage(py, &message));
        }
    };
    if min_chars == 0 {
        return Err(errors::usage(py, "min_chars must be at least 1"));
    }
    Ok(py.detach(|| {
        let mut settings = AlignSettings::default();
        settings.minimum_chars = min_chars;
        let (a, b) = (Document::folded(a, fold), Document::folded(b, fold));
        let extent = |range: Range<usize>| (range.start, range.end);
        Aligner::new(settings)
            .align(&a, &b)
            .into_iter()
            .map(|passage| {
                let (a, b) = (extent(passage.a_chars), extent(passage.b_chars));
                let kind = passage.kind.as_str();
                (a, b, passage.words, passage.identical, kind)
            })
            .collect()
    }))
}

/// A sketch of a text, for estimates of resemblance and containment.
#[pyclass(frozen, name = "Sketch", module = "cento._cento")]
#[derive(Debug, Clone)]
pub(crate) struct PySketch(Sketch);

/// An estimate: the share, and its confidence interval.
type EstimateTuple = (Option<f64>, f64, f64);

fn estimate(py: Python<'_>, estimate: &Estimate, confidence: f64) -> PyResult<EstimateTuple> {
    if !(confidence > 0.0 && confidence < 1.0) {
        let message = format!("confidence must be between 0 and 1, not {confidence}");
        return Err(errors::usage(py, &message));
    }
    let (low, high) = estimate.interval(confidence);
    Ok((estimate.value(), low, high))
}

#[pymethods]
impl PySketch {
    #[new]
    fn new(py: Python<'_>, text: &str, k: u32, minima: u32) -> PyResult<PySketch> {
        let parameters = format!("minima:k={k},m={minima}")
            .parse::<SketchParameters>()
            .map_err(|error| errors::usage(py, &format!("{error}")))?;
        // The grams whose resemblance `copies` computes, so that estimates are of the same share.
        let sketch = py.detach(|| {
            let (words, k) = (hashed(text).0, k as usize);
            let mut set = Vec::with_capacity(words.len());
            if words.len() < k && !words.is_empty() {
                set.push(run_hash(&words));
            } else {
                grams(&words, k, |gram, _| set.push(gram));
            }
            Sketcher::new(parameters).sketch_grams(&set)
        });
        match sketch {
            Some(sketch) => Ok(PySketch(sketch)),
            None => Err(errors::usage(py, "a text without words has no sketch")),
        }
    }

    #[staticmethod]
    fn from_minima(py: Python<'_>, minima: Vec<u64>, k: u32) -> PyResult<PySketch> {
        let parameters = SketchParameters {
            k,
            minima: u32::try_from(minima.len()).unwrap_or(u32::MAX),
        };
        Sketch::from_minima(parameters, minima.into())
            .map(PySketch)
            .map_err(|error| errors::usage(py, &format!("{error}")))
    }

    /// The parameters, such as `minima:k=5,m=84`.
    #[getter]
    fn parameters(&self) -> String {
        self.0.parameters().to_string()
    }

    /// Words in a gram.
    #[getter]
    fn k(&self) -> u32 {
        self.0.parameters().k
    }

    /// The hash of each slot.
    #[getter]
    fn minima(&self) -> Vec<u64> {
        self.0.minima().to_vec()
    }

    fn resemblance(
        &self,
        py: Python<'_>,
        other: &PySketch,
        confidence: f64,
    ) -> PyResult<EstimateTuple> {
        let found = self.0.resemblance(&other.0);
        let found = found.map_err(|error| errors::usage(py, &error.to_string()))?;
        estimate(py, &found, confidence)
    }

    fn containment(
        &self,
        py: Python<'_>,
        other: &PySketch,
        confidence: f64,
    ) -> PyResult<EstimateTuple> {
        let found = self.0.containment(&other.0);
        let found = found.map_err(|error| errors::usage(py, &error.to_string()))?;
        estimate(py, &found, confidence)
    }

    fn union(&self, py: Python<'_>, other: &PySketch) -> PyResult<PySketch> {
        let found = self.0.union(&other.0);
        found
            .map(PySketch)
            .map_err(|error| errors::usage(py, &error.to_string()))
    }
}
