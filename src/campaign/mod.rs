//! Which point comes next: the loads of one plan, the steps of a sweep, points given one by one, what a search tries,
//! rounds until steady.
//!
//! Owns that choice. A pure function of the job, the targets and the points so far, so that a campaign that was cut off goes
//! on where it stood. Drives nothing and knows no file.

mod given;
mod rounds;
mod search;

use std::time::Duration;

use crate::facts::DeviceFacts;
use crate::plan::{self, Load, Plan, PlanError};
use crate::result::{
    Accepted, CampaignResult, PERCENT, PointResult, Role, SearchResult, SettingResult, StepResult, judged,
};
use crate::spec::{Condition, Job, Repeats, SpecError, Step, StepLoad, Stop};
pub use given::{Given, WarmUp};
use rounds::Rounds;

/// Why a job cannot be made a campaign.
#[derive(Debug, thiserror::Error)]
pub enum CampaignError {
    /// A step's job contradicts itself.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The targets or the machine do not allow a step.
    #[error("{}{error}", step.as_ref().map(|step| format!("{step}: ")).unwrap_or_default())]
    Plan {
        /// The step, in words; none where there is but one.
        step: Option<String>,
        /// Why.
        error: Box<PlanError>,
    },
}

impl CampaignError {
    fn planned(step: Option<String>, error: PlanError) -> Self {
        Self::Plan { step, error: Box::new(error) }
    }
}

/// The points of a job and their order.
#[derive(Debug)]
pub struct Campaign {
    job: Job,
    targets: Vec<DeviceFacts>,
    cores: Vec<usize>,
    /// The plan of all points, where they differ in nothing but a load; else that of the first step.
    plan: Plan,
    /// Of its steps' plans, one for each different set of payloads; empty where one plan holds all points.
    written: Vec<Plan>,
    /// None where one plan holds all points.
    steps: Option<Vec<Step>>,
    /// What is done before a step and not measured, by the step's number.
    warm_ups: Vec<Option<WarmUp>>,
}

/// What is run at once: a plan, and what its point is in the campaign.
#[derive(Debug, Clone)]
pub struct Stage {
    /// The plan; of several points only where `step` is none.
    pub plan: Plan,
    /// What its only point is; none where the points are loads of the run's one plan.
    pub step: Option<StepResult>,
    /// Time to rest before it.
    pub pause: Duration,
    /// What is run before it, after the rest, and not measured.
    pub warm_up: Option<Plan>,
}

impl Campaign {
    /// The campaign of a job on its targets, in the job's order, and the cores this process may use. Every step is planned
    /// here, so that none is refused when hours have passed.
    ///
    /// # Errors
    /// What a step's job or its plan is refused for.
    pub fn of(job: &Job, targets: &[DeviceFacts], cores: &[usize]) -> Result<Self, CampaignError> {
        let plain = job.search.is_none() && job.sweep.as_ref().is_none_or(|sweep| sweep.plain().is_some());
        if plain {
            let plan = plan::resolve(job, targets, cores).map_err(|error| CampaignError::planned(None, error))?;
            let (job, targets, cores) = (job.clone(), targets.to_vec(), cores.to_vec());
            let written = Vec::new();
            return Ok(Self { job, targets, cores, plan, written, steps: None, warm_ups: Vec::new() });
        }
        Self::of_steps(job.clone(), job.steps()?, (targets, cores))
    }

    /// The campaign of points that are given one by one, in their order; the first stands for the whole run. All are planned
    /// here, and what is done before them.
    ///
    /// # Errors
    /// What a point or its warm-up is refused for; no point at all.
    pub fn of_given(given: Vec<Given>, targets: &[DeviceFacts], cores: &[usize]) -> Result<Self, CampaignError> {
        let Some(job) = given.first().map(|given| given.job.clone()) else {
            return Err(CampaignError::planned(None, PlanError::NoTarget));
        };
        let mut warm_ups = Vec::with_capacity(given.len());
        let mut steps = Vec::with_capacity(given.len());
        for (number, Given { settings, job, warm_up }) in given.into_iter().enumerate() {
            if let Some(warm_up) = &warm_up {
                warm_up.plan(targets, cores, 0)?;
            }
            warm_ups.push(warm_up);
            steps.push(Step { number, settings, repeat: 1, load: StepLoad::Fixed, job });
        }
        Ok(Self { warm_ups, ..Self::of_steps(job, steps, (targets, cores))? })
    }

    fn of_steps(job: Job, steps: Vec<Step>, place: (&[DeviceFacts], &[usize])) -> Result<Self, CampaignError> {
        let (targets, cores) = place;
        let mut first = None;
        let mut written: Vec<Plan> = Vec::new();
        for step in &steps {
            let plan = plan::resolve(&step.job, targets, cores).map_err(|error| {
                let settings: Vec<String> = step.settings.iter().map(ToString::to_string).collect();
                CampaignError::planned((!settings.is_empty()).then(|| settings.join(", ")), error)
            })?;
            let payloads = |plan: &Plan| plan.workloads.iter().map(|w| w.payload).collect::<Vec<_>>();
            if written.iter().all(|known| payloads(known) != payloads(&plan)) {
                written.push(plan.clone());
            }
            first.get_or_insert(plan);
        }
        let plan = first.ok_or(CampaignError::planned(None, PlanError::NoTarget))?;
        let (targets, cores) = (targets.to_vec(), cores.to_vec());
        Ok(Self { job, targets, cores, plan, written, steps: Some(steps), warm_ups: Vec::new() })
    }

    /// Plans that write differently, one for each way: what the audit of payloads is about.
    pub fn written(&self) -> impl Iterator<Item = &Plan> {
        std::iter::once(&self.plan).filter(|_| self.written.is_empty()).chain(&self.written)
    }

    /// The plan of the whole run, or that of its first step.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What is to be run after `points`; none when all is done.
    ///
    /// # Errors
    /// Loads that were found in the run and that the targets do not allow.
    pub fn next(&self, points: &[PointResult]) -> Result<Option<Stage>, CampaignError> {
        let Some(steps) = &self.steps else {
            let left = self.plan.points.len() > points.len();
            let mut plan = self.plan.after(points.len());
            // What was run before it began anew is not to be met again in a cache.
            plan.seed = another_seed(plan.seed, points);
            return Ok(left.then_some(Stage { plan, step: None, pause: Duration::ZERO, warm_up: None }));
        };
        let Some(step) =
            steps.iter().find(|step| !self.is_done(step, points) && self.stopped_by(step, points).is_none())
        else {
            return Ok(None);
        };
        let max = max_of(step, points);
        let (role, job) = match step.load {
            StepLoad::Fixed => (Role::Point, step.job.clone()),
            StepLoad::PercentOfMax(percent) => match max {
                None => (Role::Max, self.flat_out(step)?),
                Some(max) => (Role::Point, at_share(step, max, percent)),
            },
            StepLoad::Searched => match self.search_of(step, points).next() {
                search::Next::Max => (Role::Max, self.flat_out(step)?),
                search::Next::Try(load) => (Role::Tried, search::job_at(&self.job, step, load)),
                search::Next::End(_) => unreachable!("an ended search is done"),
            },
        };
        self.stage(step, role, job, points).map(Some)
    }

    /// How far it has come; none where one plan holds all points.
    #[must_use]
    pub fn state(&self, points: &[PointResult]) -> Option<CampaignResult> {
        let steps = self.steps.as_ref()?;
        let dynamic = self.job.search.is_some() || matches!(self.repeats(), Some(Repeats::Steady { .. }));
        let left = |step: &&Step| self.stopped_by(step, points).is_some() && !self.is_done(step, points);
        let left_out: Vec<&Step> = steps.iter().filter(left).collect();
        let maxima = points.iter().filter(|point| !point.is_of_curve()).count();
        let shares = steps.iter().filter(|step| matches!(step.load, StepLoad::PercentOfMax(_)));
        let mut waiting: Vec<&[crate::spec::Setting]> = Vec::new();
        let open = |step: &&Step| max_of(step, points).is_none() && self.stopped_by(step, points).is_none();
        for step in shares.filter(open) {
            if !waiting.contains(&step.settings.as_slice()) {
                waiting.push(&step.settings);
            }
        }
        let planned = (!dynamic).then(|| steps.len() - left_out.len() + maxima + waiting.len());
        let finished = steps.iter().all(|step| self.is_done(step, points) || self.stopped_by(step, points).is_some());
        let mut sentences: Vec<String> = Vec::new();
        for step in left_out {
            let (reason, at) = self.stopped_by(step, points).expect("it was left out");
            let sentence =
                format!("points behind {} were left out, as the stop rule `{reason}` says", points[at].label());
            if !sentences.contains(&sentence) {
                sentences.push(sentence);
            }
        }
        sentences.extend(steps.iter().filter_map(|step| self.rounds_of(step, points)?.complaint(step, points)));
        Some(CampaignResult { planned, finished, left_out: sentences })
    }

    /// What was searched for and found so far.
    #[must_use]
    pub fn searches(&self, points: &[PointResult]) -> Vec<SearchResult> {
        let searched = self.steps.iter().flatten().filter(|step| step.load == StepLoad::Searched);
        let begun = searched.filter(|step| of_step(step, points).next().is_some());
        begun.map(|step| self.search_of(step, points).result(step, points)).collect()
    }

    fn repeats(&self) -> Option<Repeats> {
        self.job.sweep.as_ref().and_then(|sweep| sweep.repeats)
    }

    fn search_of(&self, step: &Step, points: &[PointResult]) -> search::Progress {
        let search = self.job.search.clone().expect("a step that is searched for belongs to a search");
        search::Progress::of(search, step, points)
    }

    fn rounds_of(&self, step: &Step, points: &[PointResult]) -> Option<Rounds> {
        match self.repeats() {
            Some(Repeats::Steady { most }) if step.load != StepLoad::Searched => Some(Rounds::of(step, points, most)),
            _ => None,
        }
    }

    fn is_done(&self, step: &Step, points: &[PointResult]) -> bool {
        if step.load == StepLoad::Searched {
            return matches!(self.search_of(step, points).next(), search::Next::End(_));
        }
        match self.rounds_of(step, points) {
            Some(rounds) => rounds.are_over(),
            None => of_step(step, points).any(|(_, point)| role(point) == Some(Role::Point)),
        }
    }

    /// Why a step is left out, if it is, and the point that led to it: one on the same curve with a lesser place on it.
    fn stopped_by(&self, step: &Step, points: &[PointResult]) -> Option<(&Stop, usize)> {
        let sweep = self.job.sweep.as_ref().filter(|sweep| !sweep.stop.is_empty())?;
        let last = sweep.axes.last()?.values.len();
        let same_curve = |other: &StepResult| {
            let steady = matches!(sweep.repeats, Some(Repeats::Steady { .. }));
            other.role == Role::Point
                && other.number / last == step.number / last
                && other.number < step.number
                && (steady || other.repeat == step.repeat)
        };
        let mut found =
            points.iter().enumerate().filter(|(_, point)| point.step.as_ref().is_some_and(|s| same_curve(s)));
        found.find_map(|(index, point)| Some((sweep.stop.iter().find(|stop| fulfils(point, stop))?, index)))
    }

    /// The step's job with every open loop as a closed one, as deep as it may get.
    fn flat_out(&self, step: &Step) -> Result<Job, CampaignError> {
        let plan = self.resolve(step, &step.job)?;
        let mut job = step.job.clone();
        for (workload, load) in job.workload.iter_mut().zip(&plan.points[0].loads) {
            (workload.rate, workload.arrivals, workload.max_outstanding) = (None, None, None);
            workload.outstanding = Some(load.depth());
        }
        Ok(job)
    }

    fn resolve(&self, step: &Step, job: &Job) -> Result<Plan, CampaignError> {
        plan::resolve(job, &self.targets, &self.cores).map_err(|error| {
            let settings: Vec<String> = step.settings.iter().map(ToString::to_string).collect();
            CampaignError::planned(Some(settings.join(", ")), error)
        })
    }

    fn stage(&self, step: &Step, role: Role, job: Job, points: &[PointResult]) -> Result<Stage, CampaignError> {
        let mut plan = self.resolve(step, &job)?;
        // Points of one seed would touch the same blocks in the same order, and the second would find them cached.
        if !step.settings.iter().any(|setting| ["seed", "run.seed"].contains(&setting.field.as_str())) {
            plan.seed = another_seed(plan.seed, points);
        }
        let mut settings: Vec<SettingResult> = step.settings.iter().map(SettingResult::from).collect();
        if let (StepLoad::PercentOfMax(percent), Role::Point) = (step.load, role) {
            settings.push(SettingResult { field: PERCENT.to_owned(), value: percent.to_string() });
        }
        let before = of_step(step, points).filter(|(_, point)| self::role(point) == Some(role)).count() as u32;
        let repeat =
            if role == Role::Point && self.rounds_of(step, points).is_none() { step.repeat } else { before + 1 };
        let pause = self.job.sweep.as_ref().and_then(|sweep| sweep.pause).filter(|_| !points.is_empty());
        let warm_up = self.warm_ups.get(step.number).and_then(Option::as_ref);
        let warm_up = warm_up.map(|warm_up| warm_up.plan(&self.targets, &self.cores, plan.seed)).transpose()?;
        let step = StepResult { number: step.number, settings, repeat, role, plan: plan.clone(), headroom: None };
        Ok(Stage { plan, step: Some(step), pause: pause.unwrap_or_default(), warm_up })
    }
}

/// The seed of what comes after some points: theirs would touch the same blocks in the same order.
fn another_seed(seed: u64, points: &[PointResult]) -> u64 {
    seed.wrapping_add(points.len() as u64) & (i64::MAX as u64)
}

/// The step's job at a share of what each workload reached flat out.
fn at_share(step: &Step, max: &PointResult, percent: f64) -> Job {
    let mut job = step.job.clone();
    for (workload, reached) in job.workload.iter_mut().zip(&max.workloads) {
        let rate = (reached.figures.iops * percent / 100.0).round().max(1.0);
        workload.rate = Some((rate as u64).min(crate::spec::RATE_MAX));
    }
    job
}

/// The points of a step, with their places among all; those of other repeats are not, unless they are rounds.
fn of_step<'a>(step: &Step, points: &'a [PointResult]) -> impl Iterator<Item = (usize, &'a PointResult)> {
    let (number, repeat) = (step.number, step.repeat);
    points.iter().enumerate().filter(move |(_, point)| {
        let own =
            |own: &StepResult| own.number == number && (repeat == 0 || own.repeat == repeat || own.role != Role::Point);
        point.step.as_ref().is_some_and(|step| own(step))
    })
}

fn role(point: &PointResult) -> Option<Role> {
    point.step.as_ref().map(|step| step.role)
}

/// The point that found the highest rate at a step's settings.
fn max_of<'a>(step: &Step, points: &'a [PointResult]) -> Option<&'a PointResult> {
    let settings: Vec<SettingResult> = step.settings.iter().map(SettingResult::from).collect();
    points
        .iter()
        .find(|point| point.step.as_ref().is_some_and(|other| other.role == Role::Max && other.settings == settings))
}

fn fulfils(point: &PointResult, stop: &Stop) -> bool {
    match stop {
        Stop::Overloaded => point.overloaded,
        // A queue that grows without end is beyond any latency, though the point ended before that was measured.
        Stop::When(Condition::Bound { figure, relation, .. })
            if point.overloaded && figure.measure.is_latency() && !relation.wants_less() =>
        {
            true
        }
        Stop::When(condition) => judged(condition, point).1 == Accepted::Passed,
    }
}

/// What every workload's load is called by, for loads that a search sets.
fn set_load(job: &mut Job, load: Load) {
    for workload in &mut job.workload {
        match load {
            Load::QueueDepth(depth) => workload.queue_depth = Some(depth),
            Load::Outstanding(total) => workload.outstanding = Some(total),
            Load::Rate(open) => workload.rate = Some(open.rate_per_s),
        }
    }
}
