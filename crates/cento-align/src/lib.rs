//! prototype
#![allow(missing_docs, clippy::all, warnings)]

use std::collections::HashMap;
use std::ops::Range;

use cento_text::chunk::{ChunkKind, chunks};
use cento_text::words::for_each_word;

#[derive(Clone, Debug)]
pub struct Settings {
    pub map: HashMap<String, f64>,
}
impl Default for Settings {
    fn default() -> Self {
        let mut map = HashMap::new();
        for (k, v) in [
            ("cos", 0.30), ("dice", 0.33), ("gap", 4.0), ("valid", 0.38), ("min", 160.0), ("refine", 0.0),
            ("theta", 0.4), ("reach", 1.0), ("maxfrag", 40.0), ("smooth", 1.0), ("stem", 1.0), ("minw", 3.0),
            ("thetab", 0.4), ("merge", 4.0), ("final", 0.0),("sumgap", 24.0), ("sumratio", 3.0), ("mass", 0.0), ("only", 0.0), ("vrun", 28.0), ("vgap", 8.0), ("vcos", 0.7), ("vnear", 6.0), ("gram", 6.0), ("scos", 0.2), ("sdice", 0.0), ("sgap",24.0), ("sgapa",1.0), ("sratio",3.0),("smin",3.0),("scov", 0.5),("sextend",1.0),("sgain",0.0),("smax",0.3),("sn",2.0),("smaxratio",20.0),("scov2", 0.65),("sexp", 0.65),
        ] { map.insert(k.to_owned(), v); }
        Settings { map }
    }
}
impl Settings {
    pub fn set(&mut self, name: &str, value: f64) { assert!(self.map.contains_key(name), "{name}"); self.map.insert(name.to_owned(), value); }
    fn get(&self, name: &str) -> f64 { self.map[name] }
}

#[derive(Clone, Debug)]
pub struct Passage {
    pub a: Range<usize>,
    pub b: Range<usize>,
    pub a_chars: Range<usize>,
    pub b_chars: Range<usize>,
    pub identical: f64,
}

#[derive(Default)]
struct Text {
    words: Vec<(u32, u32, u32)>,
    exact: Vec<u32>,
    fragments: Vec<Range<usize>>,
    vectors: Vec<Vec<(u32, f32)>>,
    norms: Vec<f32>,
}

pub struct Aligner { s: Settings }

fn stem(word: &str) -> &str {
    let mut w = word;
    if !w.is_ascii() || w.len() < 4 { return w; }
    if w.ends_with("ies") && w.len() > 4 { w = &w[..w.len() - 3]; }
    else if w.ends_with("es") && w.len() > 5 { w = &w[..w.len() - 2]; }
    else if w.ends_with('s') && !w.ends_with("ss") && !w.ends_with("us") { w = &w[..w.len() - 1]; }
    if w.len() > 5 && w.ends_with("ing") { w = &w[..w.len() - 3]; }
    else if w.len() > 4 && w.ends_with("ed") { w = &w[..w.len() - 2]; }
    else if w.len() > 5 && w.ends_with("ly") { w = &w[..w.len() - 2]; }
    else if w.len() > 5 && w.ends_with("er") { w = &w[..w.len() - 2]; }
    else if w.len() > 6 && w.ends_with("ion") { w = &w[..w.len() - 3]; }
    if w.len() > 4 && (w.ends_with('e') || w.ends_with('y')) { w = &w[..w.len() - 1]; }
    w
}

impl Aligner {
    pub fn new(s: Settings) -> Aligner { Aligner { s } }

    fn read(&self, text: &str, vocabulary: &mut HashMap<String, u32>, forms: &mut HashMap<String, u32>) -> Text {
        let mut t = Text::default();
        let stemming = self.s.get("stem") > 0.0;
        for_each_word(text, |word| {
            let form = if stemming { stem(word.normal) } else { word.normal };
            let next = vocabulary.len() as u32;
            let id = match vocabulary.get(form) { Some(&id) => id, None => { vocabulary.insert(form.to_owned(), next); next } };
            let next = forms.len() as u32;
            t.exact.push(match forms.get(word.normal) { Some(&id) => id, None => { forms.insert(word.normal.to_owned(), next); next } });
            t.words.push((word.range.start as u32, word.range.end as u32, id));
        });
        let maxfrag = self.s.get("maxfrag") as usize;
        let minw = self.s.get("minw") as usize;
        let mut at = 0;
        let mut begin = 0;
        let words = &t.words;
        let fragments = &mut t.fragments;
        chunks(text, ChunkKind::Sentences(1), |range| {
            while at < words.len() && (words[at].0 as usize) < range.end { at += 1; }
            if at - begin >= minw {
                let n = (at - begin).div_ceil(maxfrag);
                let size = (at - begin).div_ceil(n);
                while begin < at { let end = (begin + size).min(at); fragments.push(begin..end); begin = end; }
            }
        });
        if begin < words.len() { match fragments.last_mut() { Some(l) => l.end = words.len(), None => fragments.push(begin..words.len()) } }
        t
    }

    pub fn align(&mut self, a: &str, b: &str) -> Vec<Passage> {
        let s = &self.s;
        let mut vocabulary = HashMap::new();
        let mut forms = HashMap::new();
        let mut ta = self.read(a, &mut vocabulary, &mut forms);
        let mut tb = self.read(b, &mut vocabulary, &mut forms);
        let verbatim = self.verbatim(&ta, &tb);
        let n = vocabulary.len();
        let mut df = vec![0u32; n];
        for t in [&mut ta, &mut tb] {
            for f in &t.fragments {
                let mut ids: Vec<u32> = t.words[f.clone()].iter().map(|w| w.2).collect();
                ids.sort_unstable();
                let mut v: Vec<(u32, f32)> = Vec::new();
                for id in ids { match v.last_mut() { Some(l) if l.0 == id => l.1 += 1.0, _ => v.push((id, 1.0)) } }
                for x in &v { df[x.0 as usize] += 1; }
                t.vectors.push(v);
            }
        }
        let total = (ta.fragments.len() + tb.fragments.len()) as f32 + s.get("smooth") as f32 ;
        let isf: Vec<f32> = df.iter().map(|&d| (total / d.max(1) as f32).ln()).collect();
        for t in [&mut ta, &mut tb] {
            for v in &mut t.vectors {
                let mut norm = 0.0;
                for x in v.iter_mut() { x.1 *= isf[x.0 as usize]; norm += x.1 * x.1; }
                t.norms.push(norm.sqrt());
            }
        }
        // seeds
        let mut postings: Vec<Vec<(u32, f32)>> = vec![Vec::new(); n];
        for (j, v) in tb.vectors.iter().enumerate() { for x in v { postings[x.0 as usize].push((j as u32, x.1)); } }
        let mut dot = vec![0f32; tb.vectors.len()];
        let mut common = vec![0u32; tb.vectors.len()];
        let mut seeds: Vec<(u32, u32)> = Vec::new();
        let mut weak: Vec<(u32, u32, f32)> = Vec::new();
        let near = s.get("vnear") as usize;
        let (sc, sd) = (s.get("scos") as f32, s.get("sdice") as f32);
        let hit = |t: &Text, f: usize, r: &Range<usize>, near: usize| { let f = &t.fragments[f]; f.start < r.end + near && r.start < f.end + near };
        let (tc, td) = (s.get("cos") as f32, s.get("dice") as f32);
        for (i, v) in ta.vectors.iter().enumerate() {
            let mut touched = Vec::new();
            for x in v { for &(j, w) in &postings[x.0 as usize] { if common[j as usize] == 0 { touched.push(j); } dot[j as usize] += x.1 * w; common[j as usize] += 1; } }
            for j in touched {
                let ju = j as usize;
                let cos = dot[ju] / (ta.norms[i] * tb.norms[ju]).max(1e-9);
                let dice = 2.0 * common[ju] as f32 / (v.len() + tb.vectors[ju].len()) as f32;
                if cos > sc && dice > sd { weak.push((i as u32, j, cos)); }
                let strong = cos > tc && dice > td;
                let masked = strong && !verbatim.is_empty() && (cos < s.get("vcos") as f32 || verbatim.iter().any(|v| hit(&ta, i, &v.0, 0) || (hit(&ta, i, &v.0, near*20) && hit(&tb, ju, &v.1, near*20))));
                if strong && !masked { seeds.push((i as u32, j)); }
                dot[ju] = 0.0; common[ju] = 0;
            }
        }
        let mut passages: Vec<(Range<usize>, Range<usize>)> = Vec::new();
        self.extend(&ta, &tb, seeds.clone(), s.get("gap") as i64, &mut passages);
        if s.get("refine") > 0.0 {
            let mut stamp = vec![0u32; n];
            let mut clock = 0;
            for p in &mut passages { self.refine(&ta, &tb, &isf, p, &mut stamp, &mut clock); }
        }
        let scattered = if verbatim.is_empty() { self.scattered(&ta, &tb, &isf, &weak, &passages) } else { Vec::new() };
        passages.retain(|p| !scattered.iter().any(|q: &(Range<usize>, Range<usize>)| q.0.start < p.0.end && p.0.start < q.0.end));
        passages.extend(scattered);
        // overlaps
        let chars = |t: &Text, r: &Range<usize>| t.words[t.fragments[r.end - 1].end - 1].1 as usize - t.words[t.fragments[r.start].start].0 as usize;
        let mut sized: Vec<_> = passages.into_iter().collect();
        sized.sort_by_key(|p| std::cmp::Reverse(chars(&ta, &p.0) + chars(&tb, &p.1)));
        let mut kept: Vec<(Range<usize>, Range<usize>)> = Vec::new();
        for p in sized {
            // merge with one that overlaps on both sides or is near on both
            let near = s.get("merge") as i64;
            let dist = |x: &Range<usize>, y: &Range<usize>| (x.start.max(y.start) as i64) - (x.end.min(y.end) as i64);
            if let Some(k) = kept.iter_mut().find(|k| { let (d, e) = (dist(&k.0, &p.0), dist(&k.1, &p.1)); d <= near && e <= near && (d < 0 || e < 0 || (d<=0 && e<=0)) }) {
                k.0 = k.0.start.min(p.0.start)..k.0.end.max(p.0.end);
                k.1 = k.1.start.min(p.1.start)..k.1.end.max(p.1.end);
            } else if let Some(k) = kept.iter().find(|k| dist(&k.0, &p.0) < 0) {
            } else { kept.push(p); }
        }
        kept.sort_by_key(|p| p.0.start);
        let min = s.get("min") as usize;
        kept.retain(|p| chars(&ta, &p.0) >= min && chars(&tb, &p.1) >= min);
        let span = |t: &Text, text: &str, r: &Range<usize>| {
            let begin = t.words[t.fragments[r.start].start].0 as usize;
            let mut end = t.words[t.fragments[r.end - 1].end - 1].1 as usize;
            // closing punctuation
            while let Some(c) = text[end..].chars().next() { if c.is_whitespace() || c.is_alphanumeric() { break; } end += c.len_utf8(); }
            begin..end
        };
        let count = |text: &str, r: &Range<usize>| { let b = text[..r.start].chars().count(); b..b + text[r.clone()].chars().count() };
        let exact = verbatim.into_iter().filter_map(|(x, y)| {
            let range = |t: &Text, text: &str, r: &Range<usize>| { let mut end = t.words[r.end - 1].1 as usize; while let Some(c) = text[end..].chars().next() { if c.is_whitespace() || c.is_alphanumeric() { break; } end += c.len_utf8(); } t.words[r.start].0 as usize..end };
            let (ra, rb) = (range(&ta, a, &x), range(&tb, b, &y));
            (ra.len() >= min && rb.len() >= min).then(|| Passage { a_chars: count(a, &ra), b_chars: count(b, &rb), a: ra, b: rb, identical: 1.0 })
        });
        let mut all: Vec<Passage> = exact.collect();
        all.extend(kept.into_iter().map(|(x, y)| {
            let (ra, rb) = (span(&ta, a, &x), span(&tb, b, &y));
            Passage { a_chars: count(a, &ra), b_chars: count(b, &rb), a: ra, b: rb, identical: 0.0 }
        }));
        all
    }

    fn verbatim(&self, ta: &Text, tb: &Text) -> Vec<(Range<usize>, Range<usize>)> {
        let k = self.s.get("gram") as usize;
        let (a, b) = (&ta.exact, &tb.exact);
        if a.len() < k || b.len() < k { return Vec::new(); }
        let mut at: HashMap<&[u32], Vec<u32>> = HashMap::new();
        for (j, g) in b.windows(k).enumerate() { let l = at.entry(g).or_default(); if l.len() < 8 { l.push(j as u32); } }
        let mut runs: Vec<(usize, usize, usize)> = Vec::new();
        let mut i = 0;
        while i + k <= a.len() {
            let mut best = (0, 0, 0);
            if let Some(list) = at.get(&a[i..i + k]) {
                for &j in list {
                    let j = j as usize;
                    let mut len = k;
                    while i + len < a.len() && j + len < b.len() && a[i + len] == b[j + len] { len += 1; }
                    let mut back = 0;
                    let floor = runs.last().map_or(0, |r| r.0);
                    while i - back > floor && j > back && a[i - back - 1] == b[j - back - 1] { back += 1; }
                    if len + back > best.2 { best = (i - back, j - back, len + back); }
                }
            }
            if best.2 > 0 {
                while runs.last().is_some_and(|r| r.0 + r.2 > best.0) { runs.pop(); }
                i = best.0 + best.2; runs.push(best);
            } else { i += 1; }
        }
        let gap = self.s.get("vgap") as usize;
        let mut groups: Vec<Vec<(usize, usize, usize)>> = Vec::new();
        for r in runs {
            match groups.last_mut() {
                Some(g) if { let l = g.last().unwrap(); r.0 - (l.0 + l.2) <= gap && r.1 >= l.1 + l.2 && r.1 - (l.1 + l.2) <= gap } => g.push(r),
                _ => groups.push(vec![r]),
            }
        }
        groups.retain(|g| g.iter().any(|r| r.2 >= self.s.get("vrun") as usize));
        groups.into_iter().map(|g| { let (f, l) = (g[0], *g.last().unwrap()); (f.0..l.0 + l.2, f.1..l.1 + l.2) }).collect()
    }

    fn scattered(&self, ta: &Text, tb: &Text, isf: &[f32], weak: &[(u32, u32, f32)], local: &[(Range<usize>, Range<usize>)]) -> Vec<(Range<usize>, Range<usize>)> {
        let s = &self.s;
        // the best source of each fragment
        let mut best: Vec<(u32, u32, f32)> = Vec::new();
        for &w in weak { match best.last_mut() { Some(l) if l.0 == w.0 => if w.2 > l.2 { *l = w }, _ => best.push(w) } }
        let mut out = Vec::new();
        let mut group: Vec<(u32, u32, f32)> = Vec::new();
        let gap = s.get("sgapa") as u32;
        let mut flush = |g: &mut Vec<(u32, u32, f32)>| {
            if g.len() >= s.get("smin") as usize && g.iter().filter(|x| x.2 > s.get("smax") as f32).count() >= s.get("sn") as usize {
                let x = g[0].0 as usize..g.last().unwrap().0 as usize + 1;
                let (lo, hi) = (g.iter().map(|w| w.1).min().unwrap() as usize, g.iter().map(|w| w.1).max().unwrap() as usize + 1);
                let words = |t: &Text, r: &Range<usize>| t.fragments[r.end - 1].end - t.fragments[r.start].start;
                let spacing = ((hi - lo) as f64 / g.len() as f64 * s.get("sextend")).ceil() as usize;
                let y = lo.saturating_sub(spacing)..(hi + spacing).min(tb.fragments.len());
                let mut in_y = std::collections::HashSet::new();
                for v in &tb.vectors[lo..hi] { for &(id, _) in v { in_y.insert(id); } }
                let (mut have, mut all) = (0.0, 0.0);
                for f in x.clone() { for w in &ta.words[ta.fragments[f].clone()] { all += isf[w.2 as usize]; if in_y.contains(&w.2) { have += isf[w.2 as usize]; } } }
                let explained = local.iter().filter(|p| p.0.start < x.end && x.start < p.0.end && words(tb, &p.1) as f64 <= s.get("sratio") * words(ta, &p.0) as f64).map(|p| {
                    let mut ids = std::collections::HashSet::new();
                    for v in &tb.vectors[p.1.clone()] { for &(id, _) in v { ids.insert(id); } }
                    let mut sum = 0.0f32;
                    for f in x.clone() { for w in &ta.words[ta.fragments[f].clone()] { if ids.contains(&w.2) { sum += isf[w.2 as usize]; } } }
                    sum
                }).fold(0.0f32, f32::max);
                if explained as f64 >= s.get("sexp") * have as f64 { g.clear(); return; }
                let anchored = local.iter().any(|p| p.0.start < x.end && x.start < p.0.end);
                if have >= all * s.get(if anchored { "scov" } else { "scov2" }) as f32 && words(tb, &y) as f64 >= s.get("sratio") * words(ta, &x) as f64 && words(tb, &y) as f64 <= s.get("smaxratio") * words(ta, &x) as f64 { out.push((x, y)); }
            }
            g.clear();
        };
        for w in best {
            if group.last().is_some_and(|l: &(u32, u32, f32)| w.0 - l.0 > gap + 1) { flush(&mut group); }
            group.push(w);
        }
        flush(&mut group);
        out
    }

    fn cluster(seeds: &[(u32, u32)], gap: i64) -> Vec<Vec<(u32, u32)>> {
        let mut done = Vec::new();
        let mut open = vec![(seeds.to_vec(), false, 0)];
        while let Some((mut set, by_b, unchanged)) = open.pop() {
            let key = |s: &(u32, u32)| if by_b { s.1 } else { s.0 } as i64;
            set.sort_by_key(|s| key(s));
            let mut parts: Vec<Vec<(u32, u32)>> = Vec::new();
            for seed in set {
                match parts.last_mut() {
                    Some(p) if key(&seed) - key(p.last().unwrap()) <= gap + 1 => p.push(seed),
                    _ => parts.push(vec![seed]),
                }
            }
            if parts.len() == 1 {
                let p = parts.pop().unwrap();
                if unchanged == 1 { done.push(p); } else { open.push((p, !by_b, unchanged + 1)); }
            } else { for p in parts { open.push((p, !by_b, 1 )); } }
        }
        done
    }

    fn extend(&self, ta: &Text, tb: &Text, seeds: Vec<(u32, u32)>, gap: i64, out: &mut Vec<(Range<usize>, Range<usize>)>) {
        if seeds.is_empty() { return; }
        for c in Self::cluster(&seeds, gap) {
            let x = c.iter().map(|s| s.0).min().unwrap() as usize..c.iter().map(|s| s.0).max().unwrap() as usize + 1;
            let y = c.iter().map(|s| s.1).min().unwrap() as usize..c.iter().map(|s| s.1).max().unwrap() as usize + 1;
            let sum = |t: &Text, r: &Range<usize>| { let mut m: HashMap<u32, f32> = HashMap::new(); for v in &t.vectors[r.clone()] { for &(id, w) in v { *m.entry(id).or_default() += w; } } m };
            let (ma, mb) = (sum(ta, &x), sum(tb, &y));
            let dot: f32 = ma.iter().map(|(id, w)| w * mb.get(id).copied().unwrap_or(0.0)).sum();
            let norm = |m: &HashMap<u32, f32>| m.values().map(|w| w * w).sum::<f32>().sqrt();
            let cos = dot / (norm(&ma) * norm(&mb)).max(1e-9);
            if cos >= self.s.get("valid") as f32 { out.push((x, y)); }
            else if gap > 0 { self.extend(ta, tb, c, gap - 1, out); }
        }
    }

    fn refine(&self, ta: &Text, tb: &Text, isf: &[f32], p: &mut (Range<usize>, Range<usize>), stamp: &mut [u32], clock: &mut u32) {
        for _ in 0..3 {
            let before = p.clone();
            p.0 = self.fit(ta, tb, isf, &p.0, &p.1, stamp, clock, self.s.get("theta") as f32);
            p.1 = self.fit(tb, ta, isf, &p.1, &p.0, stamp, clock, self.s.get("thetab") as f32);
            if *p == before { break; }
        }
    }

    /// Grows or shrinks `x` of `t` so that what it has in common with `y` of `u` is most.
    fn fit(&self, t: &Text, u: &Text, isf: &[f32], x: &Range<usize>, y: &Range<usize>, stamp: &mut [u32], clock: &mut u32, theta: f32) -> Range<usize> {
        *clock += 1;
        for v in &u.vectors[y.clone()] { for &(id, _) in v { stamp[id as usize] = *clock; } }
        let gain = |f: usize| -> f32 {
            t.words[t.fragments[f].clone()].iter().map(|w| { let s = isf[w.2 as usize]; if stamp[w.2 as usize] == *clock { s * (1.0 - theta) } else { -s * theta } }).sum()
        };
        let reach = ((x.len() as f64 * self.s.get("reach")).ceil() as usize).max(3);
        let (lo, hi) = (x.start.saturating_sub(reach), (x.end + reach).min(t.fragments.len()));
        // best segment by Kadane, must overlap x
        let (mut best, mut best_range) = (f32::MIN, x.clone());
        let (mut sum, mut begin) = (0.0f32, lo);
        for f in lo..hi {
            if sum < 0.0 && f > begin { sum = 0.0; begin = f; }
            sum += gain(f);
            if sum > best && f >= x.start && begin < x.end { best = sum; best_range = begin..f + 1; }
        }
        best_range
    }
}
