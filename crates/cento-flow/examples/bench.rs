//! dev
use std::time::Duration;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    if a[1] == "make" { cento_flow::bench::make_file(a[2].as_ref(), a[3].parse().unwrap()).unwrap(); return; }
    let registry = cento_flow::bench::registry();
    let flow = cento_flow::bench::flow(a[1].as_ref(), None, a.get(3).map(|x| x.parse().unwrap())).unwrap();
    let progress = std::sync::Arc::new(cento_flow::Progress::default());
    let report = cento_flow::Runner { registry: &registry, threads: 2, memory: a[2].parse::<u64>().unwrap() << 20, temp: "/tmp/flow/temp".into(), tables: "/tmp/flow/out".into(), progress, checkpoint: Duration::from_secs(60) }.run(&flow);
    match report { Ok(r) => println!("{r}{:.2} s", r.seconds), Err(e) => println!("{e} {:?}", e.hint()) }
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    for l in status.lines().filter(|l| l.starts_with("RssAnon") || l.starts_with("VmHWM")) { println!("{l}"); }
}
