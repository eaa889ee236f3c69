//! What was asked of storage.

use assay_model::event::Parameter;
use assay_model::workload::course::Course;
use assay_model::workload::storage::{
    AccessPattern, Cursor, CurvePoint, EngineChoice, Load, StorageTest,
};

/// The parameters of a test: what is done, where, how much at a time.
pub(super) fn asked(test: &StorageTest) -> Vec<(&'static str, Parameter)> {
    let text = |text: &str| Parameter::Text(text.to_owned());
    let work = &test.workload;
    let mut list = vec![
        ("test", text(&test.name)),
        ("target", Parameter::Text(targets(test))),
        ("engine", text(engine(work.engine))),
    ];
    if let Some(stream) = work.streams.first() {
        let operation = match stream.read_share {
            share if share >= 1.0 => "read",
            share if share <= 0.0 => "write",
            _ => "mix",
        };
        list.push(("operation", text(operation)));
        if operation == "mix" {
            list.push(("read_share", Parameter::Number(stream.read_share)));
        }
        list.push(("pattern", text(pattern(&stream.pattern))));
        list.push(("depth", Parameter::Integer(u64::from(stream.in_flight_per_target))));
        list.push(("threads", Parameter::Integer(u64::from(stream.threads))));
        let size = stream.sizes.first().map(|size| size.max_bytes);
        list.extend(size.map(|bytes| ("bytes", Parameter::Integer(bytes))));
    }
    if let Load::Open { rate_per_s, .. } = work.load {
        list.push(("requested_rate", Parameter::Number(rate_per_s)));
    }
    list.extend(test.point.and_then(|point| match point {
        CurvePoint::Greatest => Some(("point", text("max"))),
        CurvePoint::Share { percent } => Some(("percent_of_max", Parameter::Number(percent))),
        // It was learned.
        CurvePoint::Bend { .. } => None,
    }));
    if let Course::Search(goal) = test.course {
        list.push(("goal", Parameter::Text(goal.to_string())));
    }
    if test.precondition_passes > 0 {
        let passes = u64::from(test.precondition_passes);
        list.push(("precondition_passes", Parameter::Integer(passes)));
    }
    if work.targets.iter().any(|target| !target.direct) {
        list.push(("page_cache", Parameter::Flag(true)));
    }
    list
}

fn targets(test: &StorageTest) -> String {
    let work = &test.workload;
    if work.engine == EngineChoice::Null {
        return "none".to_owned();
    }
    let paths = work.targets.iter().map(|target| target.path.display().to_string());
    paths.collect::<Vec<_>>().join(", ")
}

const fn engine(engine: EngineChoice) -> &'static str {
    match engine {
        EngineChoice::Auto => "auto",
        EngineChoice::IoUring => "io_uring",
        EngineChoice::Libaio => "libaio",
        EngineChoice::Threads => "threads",
        EngineChoice::Null => "null",
    }
}

const fn pattern(pattern: &AccessPattern) -> &'static str {
    match pattern {
        AccessPattern::Random | AccessPattern::Permutation => "random",
        AccessPattern::Strides { .. } => "strides",
        AccessPattern::Sequential { cursor: Cursor::Shared, .. } => "sequential",
        AccessPattern::Sequential { .. } => "parts",
        AccessPattern::Mixed { .. } => "mixed",
        AccessPattern::Blocks { shuffled: true, .. } => "random",
        AccessPattern::Blocks { shuffled: false, .. } => "parts",
    }
}
