//! Lowest and highest possible offsets of the parts (pieces in one space), and everything that follows from them.
//!
//! All changes are on a trail, so that they can be taken back. Three kinds of reasoning are repeated until nothing
//! changes:
//!
//! - an inequality that holds ("offset of `above` ≥ offset of `below` + n") raises the lowest offset of `above` and
//!   lowers the highest offset of `below`, rounded to multiples of their alignments;
//! - if only one option of a choice is still possible, that option is chosen;
//! - jobs of a clique exclude each other, so they need room: [`machine`](super::machine) raises and lowers their
//!   bounds.
//!
//! Inequalities that contradict each other (a above b above a) would raise offsets for ever. So if a part is raised
//! very often, [`Domains::has_circle`] looks for such a circle.
//!
//! Words from other files: a [`Least`] is an inequality between two parts, which are named by their numbers. A choice
//! is a list of options, each a list of inequalities that hold together; at least one option has to hold. A *job* is a
//! range of bytes of a part, and a [`Task`] is a job with the addresses that it can have now.

use super::machine::{Machine, Task};
use super::model::{Least, Model, round_down, round_up};
use crate::tuning::FULL_TENTHS;

/// A change to take back.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// The lowest offset of this part was this before.
    Lowest(u32, i64),
    /// The highest offset of this part was this before.
    Highest(u32, i64),
    /// This inequality was not known to hold before.
    Holds(Least),
    /// This choice was not settled before.
    Settled(u32),
}

/// There is no plan at this node of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dead;

/// A position on the trail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark(usize);

/// Which kinds of reasoning are used; tests switch them off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rules {
    /// Whether the rules of [`machine`](super::machine) are applied to cliques of jobs.
    pub(super) machines: bool,
    /// Whether an option is chosen as soon as it is the only possible one of its choice.
    pub(super) units: bool,
    /// Whether parts that do not differ have to lie in the order of their numbers, from bottom to top.
    pub(super) symmetries: bool,
    /// Whether choices between parts that have failed before are made first.
    pub(super) failures: bool,
    /// Whether parts that no choice connects are solved separately.
    pub(super) components: bool,
}

impl Rules {
    pub(super) const ALL: Rules =
        Rules { machines: true, units: true, symmetries: true, failures: true, components: true };
}

/// See the module documentation.
pub(super) struct Domains<'m> {
    model: &'m Model,
    rules: Rules,
    /// Per part: the lowest and the highest offset that it can have at this node (its *domain*).
    pub(super) lowest: Vec<i64>,
    pub(super) highest: Vec<i64>,
    /// Per part: the inequalities that hold in which the part is `below`.
    up: Vec<Vec<Least>>,
    /// Per part: the inequalities that hold in which the part is `above`.
    down: Vec<Vec<Least>>,
    /// Per choice: whether one of its options was chosen, or holds for all offsets in the domains. Nothing needs to be
    /// decided about it any more.
    settled: Vec<bool>,
    /// Per part: choices and cliques it occurs in.
    choices_of: Vec<Vec<u32>>,
    cliques_of: Vec<Vec<u32>>,
    trail: Vec<Change>,
    /// Parts whose domains have changed and whose rules have not been looked at since.
    queue: Vec<u32>,
    /// Per part: whether it is in `queue`.
    is_queued: Vec<bool>,
    /// Cliques with a part whose domain has changed. They have their turn when `queue` is empty.
    waiting: Vec<u32>,
    /// Per clique: whether it is in `waiting`.
    is_waiting: Vec<bool>,
    /// Per part: how often it was raised since the last look for circles.
    raised: Vec<u32>,
    /// Scratch memory of [`Domains::pack`].
    machine: Machine,
    tasks: Vec<Task>,
    /// Per part: one more than how often it was blamed for a dead branch, for instance because it had no offset left.
    /// Going back does not change it.
    pub(super) failures: Vec<u32>,
    /// How many inequalities, choices and jobs of cliques were looked at. Going back does not change it.
    pub(super) looks: u64,
}

impl<'m> Domains<'m> {
    /// The state at the root of the search: every part may lie anywhere between its own bounds, no choice is made, and
    /// nothing has been derived from the model yet.
    pub(super) fn new(model: &'m Model, rules: Rules) -> Domains<'m> {
        let count = model.parts.len();
        // Which choices and cliques to look at again when the bounds of a part change. A choice may name a part several
        // times. The numbers of choices ascend, so a duplicate can only be the last entry of a list.
        let mut choices_of = vec![Vec::new(); count];
        for (number, choice) in model.choices.iter().enumerate() {
            for least in choice.options.iter().flatten() {
                for part in [least.below, least.above] {
                    let list: &mut Vec<u32> = &mut choices_of[part as usize];
                    if list.last() != Some(&(number as u32)) {
                        list.push(number as u32);
                    }
                }
            }
        }
        let mut cliques_of = vec![Vec::new(); count];
        for (number, clique) in model.cliques.iter().enumerate() {
            for job in clique {
                let list: &mut Vec<u32> = &mut cliques_of[job.part as usize];
                if list.last() != Some(&(number as u32)) {
                    list.push(number as u32);
                }
            }
        }
        Domains {
            model,
            rules,
            lowest: model.parts.iter().map(|part| part.lowest).collect(),
            highest: model.parts.iter().map(|part| part.highest).collect(),
            up: vec![Vec::new(); count],
            down: vec![Vec::new(); count],
            settled: vec![false; model.choices.len()],
            choices_of,
            cliques_of,
            trail: Vec::new(),
            queue: Vec::new(),
            is_queued: vec![false; count],
            waiting: Vec::new(),
            is_waiting: vec![false; model.cliques.len()],
            raised: vec![0; count],
            machine: Machine::default(),
            tasks: Vec::new(),
            failures: vec![1; count],
            // The lists above have an entry for each choice.
            looks: (count + model.choices.len()) as u64,
        }
    }

    /// The present position on the trail, to come back to.
    pub(super) fn mark(&self) -> Mark {
        Mark(self.trail.len())
    }

    /// Takes back everything since a mark.
    pub(super) fn undo(&mut self, mark: Mark) {
        while self.trail.len() > mark.0
            && let Some(change) = self.trail.pop()
        {
            match change {
                Change::Lowest(part, before) => self.lowest[part as usize] = before,
                Change::Highest(part, before) => self.highest[part as usize] = before,
                Change::Settled(choice) => self.settled[choice as usize] = false,
                Change::Holds(least) => {
                    self.up[least.below as usize].pop();
                    self.down[least.above as usize].pop();
                }
            }
        }
    }

    /// To be called once, at the root: adds the inequalities that always hold, and queues all parts, so that the next
    /// [`Domains::propagate`] looks at every rule.
    pub(super) fn begin(&mut self) -> Result<(), Dead> {
        if self.rules.symmetries {
            for &least in &self.model.always {
                self.hold(least)?;
            }
        }
        (0..self.model.parts.len() as u32).for_each(|part| self.enqueue(part));
        Ok(())
    }

    /// Lowers the highest offsets so that every part ends within `extent`.
    pub(super) fn limit(&mut self, extent: i64) -> Result<(), Dead> {
        self.looks += self.model.parts.len() as u64;
        for part in 0..self.model.parts.len() {
            self.lower(part as u32, extent - self.model.parts[part].size)?;
        }
        Ok(())
    }

    /// Makes a choice: adds all inequalities of the option to those that hold, until [`Domains::undo`].
    pub(super) fn choose(&mut self, choice: u32, option: usize) -> Result<(), Dead> {
        self.settle(choice);
        let model = self.model;
        for &least in &model.choices[choice as usize].options[option] {
            self.hold(least)?;
        }
        Ok(())
    }

    /// Draws all conclusions from what has changed since the last call. After a failure the queues are emptied, because
    /// the changes will be taken back.
    pub(super) fn propagate(&mut self) -> Result<(), Dead> {
        self.raised.fill(0);
        let result = self.conclude();
        if result.is_err() {
            self.queue.drain(..).for_each(|part| self.is_queued[part as usize] = false);
            self.waiting.drain(..).for_each(|clique| self.is_waiting[clique as usize] = false);
        }
        result
    }

    /// Looks at the rules of all parts and cliques that wait, until none waits any more. A clique has its turn only
    /// when no part waits, because cliques cost most.
    fn conclude(&mut self) -> Result<(), Dead> {
        loop {
            while let Some(part) = self.queue.pop() {
                self.is_queued[part as usize] = false;
                self.follow(part)?;
            }
            let Some(clique) = self.waiting.pop() else { return Ok(()) };
            self.is_waiting[clique as usize] = false;
            self.pack(clique)?;
        }
    }

    /// Whether some option of a choice holds if every part has its lowest offset.
    pub(super) fn is_kept(&self, choice: u32) -> bool {
        let holds =
            |least: &Least| self.lowest[least.above as usize] >= self.lowest[least.below as usize] + least.least;
        self.model.choices[choice as usize].options.iter().any(|option| option.iter().all(holds))
    }

    /// Whether nothing needs to be decided about a choice any more.
    pub(super) fn is_settled(&self, choice: u32) -> bool {
        self.settled[choice as usize]
    }

    /// How many bytes the tightest inequality of an option leaves: by how much its two parts can be further apart than
    /// it asks for, within their domains. Negative if the option is impossible; `i64::MAX` if it has no inequality.
    pub(super) fn slack(&self, choice: u32, option: usize) -> i64 {
        let slack =
            |least: &Least| self.highest[least.above as usize] - self.lowest[least.below as usize] - least.least;
        self.model.choices[choice as usize].options[option].iter().map(slack).min().unwrap_or(i64::MAX)
    }

    /// No offset is left for a part: blames the part and says that the branch is dead.
    fn fail(&mut self, part: u32) -> Result<(), Dead> {
        self.blame(part);
        Err(Dead)
    }

    /// Counts that a part was a reason why a branch is dead. The search branches on choices between such parts first.
    fn blame(&mut self, part: u32) {
        self.failures[part as usize] += u32::from(self.rules.failures);
    }

    /// Puts a part into the queue, unless it is in it.
    fn enqueue(&mut self, part: u32) {
        if !std::mem::replace(&mut self.is_queued[part as usize], true) {
            self.queue.push(part);
        }
    }

    /// Raises the lowest offset of a part to `offset`, rounded up to the alignment, and queues the part so that its
    /// rules are looked at. The branch is dead if no offset is left, or if the part was raised in a circle.
    fn raise(&mut self, part: u32, offset: i64) -> Result<(), Dead> {
        let index = part as usize;
        if offset <= self.lowest[index] {
            return Ok(());
        }
        let offset = round_up(offset, self.model.parts[index].alignment);
        if offset > self.highest[index] {
            return self.fail(part);
        }
        self.trail.push(Change::Lowest(part, self.lowest[index]));
        self.lowest[index] = offset;
        self.enqueue(part);
        self.raised[index] += 1;
        // Parts that must lie above each other in a circle would raise each other, byte by byte, until one has no
        // offset left; in a space without capacity that takes very long. Without a circle each chain of inequalities
        // raises a part once. So a part that was raised more than twice as often as there are parts (plus 8, for models
        // of few parts) is a reason to look for a circle. If there is none, counting starts again.
        if self.raised[index] as usize > 2 * self.model.parts.len() + 8 {
            self.raised.fill(0);
            return if self.has_circle() { Err(Dead) } else { Ok(()) };
        }
        Ok(())
    }

    /// Lowers the highest offset of a part to `offset`, rounded down to the alignment, and queues the part. The branch
    /// is dead if no offset is left. (No look for circles: the offsets of a circle rise as well, and `raise` finds it.)
    fn lower(&mut self, part: u32, offset: i64) -> Result<(), Dead> {
        let index = part as usize;
        if offset >= self.highest[index] {
            return Ok(());
        }
        let offset = round_down(offset, self.model.parts[index].alignment);
        if offset < self.lowest[index] {
            return self.fail(part);
        }
        self.trail.push(Change::Highest(part, self.highest[index]));
        self.highest[index] = offset;
        self.enqueue(part);
        Ok(())
    }

    /// Adds an inequality to those that hold, until [`Domains::undo`], and draws its conclusions.
    fn hold(&mut self, least: Least) -> Result<(), Dead> {
        self.trail.push(Change::Holds(least));
        self.up[least.below as usize].push(least);
        self.down[least.above as usize].push(least);
        self.apply(least)
    }

    /// Draws the two conclusions of an inequality: a bound for the upper part and one for the lower part.
    fn apply(&mut self, least: Least) -> Result<(), Dead> {
        self.raise(least.above, self.lowest[least.below as usize] + least.least)?;
        self.lower(least.below, self.highest[least.above as usize] - least.least)
    }

    /// Notes, until [`Domains::undo`], that nothing needs to be decided about a choice any more.
    fn settle(&mut self, choice: u32) {
        self.settled[choice as usize] = true;
        self.trail.push(Change::Settled(choice));
    }

    /// The domain of a part has changed: applies the inequalities that the part is in, looks at its choices, and puts
    /// its cliques among those that wait.
    fn follow(&mut self, part: u32) -> Result<(), Dead> {
        let index = part as usize;
        self.looks += (self.up[index].len() + self.down[index].len() + self.choices_of[index].len()) as u64;
        // Indices instead of iterators, because `apply` borrows all of `self`. It changes bounds, not these lists.
        for position in 0..self.up[index].len() {
            self.apply(self.up[index][position])?;
        }
        for position in 0..self.down[index].len() {
            self.apply(self.down[index][position])?;
        }
        if self.rules.units {
            for position in 0..self.choices_of[index].len() {
                let choice = self.choices_of[index][position];
                if !self.settled[choice as usize] {
                    self.examine(choice)?;
                }
            }
        }
        // Edge finding is dear, so a clique is looked at once, after everything cheap has been done.
        if self.rules.machines {
            for position in 0..self.cliques_of[index].len() {
                let clique = self.cliques_of[index][position];
                if !std::mem::replace(&mut self.is_waiting[clique as usize], true) {
                    self.waiting.push(clique);
                }
            }
        }
        Ok(())
    }

    /// Whether an inequality holds for all offsets that its two parts have in their domains.
    fn holds_anyway(&self, least: &Least) -> bool {
        self.highest[least.below as usize] + least.least <= self.lowest[least.above as usize]
    }

    /// Looks at a choice that is not settled. If some option holds for all offsets in the domains, the choice is
    /// settled. If only one option can still hold, that option is chosen. If none can, the branch is dead.
    fn examine(&mut self, choice: u32) -> Result<(), Dead> {
        let model = self.model;
        let mut possible = None;
        for (number, option) in model.choices[choice as usize].options.iter().enumerate() {
            let (mut can_hold, mut does_hold) = (true, true);
            for least in option {
                let (below, above) = (least.below as usize, least.above as usize);
                can_hold &= self.lowest[below] + least.least <= self.highest[above];
                does_hold &= self.highest[below] + least.least <= self.lowest[above];
            }
            if does_hold {
                self.settle(choice);
                return Ok(());
            }
            if can_hold && possible.replace(number).is_some() {
                // Two options are possible, so nothing is chosen. All that is left to find out is whether one of the
                // later options holds anyway.
                let options = &model.choices[choice as usize].options;
                if options[number + 1..].iter().any(|option| option.iter().all(|least| self.holds_anyway(least))) {
                    self.settle(choice);
                }
                return Ok(());
            }
        }
        match possible {
            Some(option) => self.choose(choice, option),
            // No option is possible. The two parts of the first inequality are blamed, so that the search branches
            // earlier on choices between them.
            None => {
                let first = model.choices[choice as usize].options.iter().flatten().next();
                first.iter().for_each(|least| self.blame(least.below));
                first.map_or(Err(Dead), |least| self.fail(least.above))
            }
        }
    }

    /// Applies the rules of [`machine`](super::machine) to the jobs of a clique. No two of them may have a byte in common,
    /// so they are like tasks that one machine does one after the other; addresses stand for time. `Err` if they do not
    /// fit between their lowest and highest addresses.
    fn pack(&mut self, clique: u32) -> Result<(), Dead> {
        let model = self.model;
        let jobs = &model.cliques[clique as usize];
        self.looks += jobs.len() as u64;
        // Each job is a range of bytes of a part. Where it can lie follows from the lowest and the highest offset of
        // the part.
        let mut tasks = std::mem::take(&mut self.tasks);
        tasks.clear();
        for (number, job) in jobs.iter().enumerate() {
            let part = job.part as usize;
            tasks.push(Task {
                release: self.lowest[part] + job.low,
                deadline: self.highest[part] + job.high,
                length: job.high - job.low,
                number: number as u32,
            });
        }
        let mut result = Ok(());
        // If the jobs fill little of the room, the rules hardly ever find anything.
        if is_roomy(&tasks) {
            self.tasks = tasks;
            return Ok(());
        }
        // The rules look at all jobs for each job.
        self.looks += (jobs.len() * jobs.len()) as u64;
        if !self.machine.tighten(&mut tasks) {
            // The jobs do not fit together, so all of their parts are blamed.
            jobs.iter().for_each(|job| self.blame(job.part));
            result = Err(Dead);
        }
        // The new bounds of the jobs are new bounds of their parts. `tighten` leaves the tasks in their order; it needs
        // their numbers only to find them again in lists that it has sorted. After a failure nothing is applied, but
        // the list is given back, hence `and_then` and no `?`.
        for (job, task) in jobs.iter().zip(&tasks) {
            result = result.and_then(|()| self.raise(job.part, task.release - job.low));
            result = result.and_then(|()| self.lower(job.part, task.deadline - job.high));
        }
        self.tasks = tasks;
        result
    }

    /// Whether the inequalities that hold contradict each other, however large the space is: a part would have to lie
    /// above itself.
    fn has_circle(&self) -> bool {
        // Bellman and Ford's algorithm for longest paths, from offset 0 for every part. Without a circle that raises, a
        // longest path visits each part at most once, so after as many rounds as there are parts no offset rises. If
        // one still does in one round more, offsets would rise for ever.
        let mut reach = vec![0i64; self.model.parts.len()];
        for _ in 0..=self.model.parts.len() {
            let mut changed = false;
            for least in self.up.iter().flatten() {
                let offset = reach[least.below as usize] + least.least;
                if offset > reach[least.above as usize] {
                    reach[least.above as usize] = offset;
                    changed = true;
                }
            }
            if !changed {
                return false;
            }
        }
        true
    }
}

/// Whether tasks fill less than [`FULL_TENTHS`] tenths of the bytes between the lowest release and the highest
/// deadline.
fn is_roomy(tasks: &[Task]) -> bool {
    let release = tasks.iter().map(|task| task.release).min().unwrap_or(0);
    let deadline = tasks.iter().map(|task| task.deadline).max().unwrap_or(0);
    let length = tasks.iter().map(|task| task.length).sum::<i64>();
    length < (deadline - release) / 10 * FULL_TENTHS
}
