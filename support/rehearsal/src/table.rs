//! What it can rehearse, as data: one row an intent.
//!
//! A request goes to the row whose examples are nearest; the row then has to account for every word that carries a meaning,
//! by its own words, by a slot or by a filler. So a row is taught by examples in different words, and an example never
//! makes it do more than it says. `{path}`, `{kind}` (Python, .toml), `{dir}`, `{quoted}`, `{code}`, `{number}`, `{key}` and
//! `{name}` stand for shapes.

use crate::tools::Can;

/// What a row has to find in the request, or may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// Exactly one file.
    Path,
    /// Two files: from and to.
    Pair,
    /// One file or more.
    Paths,
    /// A folder.
    Dir,
    /// A kind of files.
    Kind,
    /// Text in quotation marks or backticks.
    Quoted,
    /// A number.
    Number,
    /// An id.
    Key,
    /// The names of teammates.
    Names,
    /// What stands behind one of these words, up to the end.
    After(&'static str),
}

/// Whether a row answers a question or does something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    /// It only looks: asked for or ordered.
    Looks,
    /// It changes or starts something: it must be ordered, with a verb of `says`.
    Acts,
}

/// What the row makes of its slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Make {
    /// A command; `{path}`, `{paths}`, `{from}`, `{to}`, `{dir}`, `{quoted}`, `{number}` are filled in, quoted for the shell.
    Shell(&'static str),
    /// Text.
    Say(&'static str),
    /// The plain call of a tool without arguments.
    Tool(Can),
    Read,
    Head,
    Tail,
    About,
    ReadAll,
    List,
    Find,
    Count,
    Exists,
    Grep,
    Framework,
    Verify,
    Append,
    Mend,
    Review,
    Package,
    Long,
    ShowLong,
    Abilities,
    More,
    Skills,
    LoadSkill,
    WriteSkill,
    Remember,
    Recall,
    FirstRequest,
    Requests,
    WhatDidYouDo,
    Board,
    Unblocked,
    ShowTask,
    Claim,
    Complete,
    WorkBoard,
    CancelCron,
    Inbox,
    Leave,
    AskPlan,
    OwnPlan,
    Approve,
    Reject,
    Report,
    WaitForThem,
    Worktrees,
    Worktree,
    RemoveTree,
    DiscardTree,
    KeepTree,
    Tools,
}

/// An intent.
#[derive(Debug)]
pub struct Row {
    /// How it is called in `what can you do?`: ready to type.
    pub offer: &'static str,
    /// What is made of it.
    pub make: Make,
    /// Requests in different words, with ` | ` between them.
    pub examples: &'static str,
    /// One of these words must be said; empty for a row that its slots tell apart.
    pub says: &'static str,
    /// What must be found.
    pub needs: &'static [Slot],
    /// What may be found beside.
    pub may: &'static [Slot],
    /// One of these tools must be on offer.
    pub tools: &'static [Can],
    /// Whether it only looks.
    pub mood: Mood,
}

const fn looks(offer: &'static str, make: Make, tools: &'static [Can], examples: &'static str) -> Row {
    Row { offer, make, examples, says: "", needs: &[], may: &[], tools, mood: Mood::Looks }
}

const fn acts(
    offer: &'static str,
    make: Make,
    tools: &'static [Can],
    says: &'static str,
    examples: &'static str,
) -> Row {
    Row { offer, make, examples, says, needs: &[], may: &[], tools, mood: Mood::Acts }
}

impl Row {
    const fn needs(mut self, slots: &'static [Slot]) -> Self {
        self.needs = slots;
        self
    }

    const fn may(mut self, slots: &'static [Slot]) -> Self {
        self.may = slots;
        self
    }

    const fn says(mut self, words: &'static str) -> Self {
        self.says = words;
        self
    }
}

const READ: &[Can] = &[Can::Read, Can::Bash];
const FILES: &[Can] = &[Can::Glob, Can::Bash];
const BASH: &[Can] = &[Can::Bash];
const WRITE: &[Can] = &[Can::Write];
const NONE: &[Can] = &[];
const PLACE: &[Slot] = &[Slot::Dir];

/// All rows.
pub static ROWS: &[Row] = &[
    // Reading.
    looks("read {file}", Make::Read, READ, "read the file {path} | what does {path} say | show me {path} | open {path} for me | look at {path} | \
        look into {path} | print the contents of {path} | display {path} | what is in {path} | cat {path} | view \
        the content of {path} | continue reading {path} | keep reading {path} meanwhile | read both {path} and \
        {path} | what does {path} contain | read it back | read it again | list its contents | print its \
        contents | check {path} | tell me what {path} says | go on reading {path} while waiting | read the whole \
        text of {path} | have a look at {path} | let me see {path} | read {path} and report | find {path}").needs(&[Slot::Paths]),
    looks("read the first 5 lines of {file}", Make::Head, READ, "read the first {number} lines of {path} | show me the top {number} lines of {path} | head of {path} | \
        beginning start line").needs(&[Slot::Path, Slot::Number]).says("first top head beginning"),
    looks("show the last 5 lines of {file}", Make::Tail, BASH, "show the last {number} lines of {path} | tail of {path} | the final bottom end line").needs(&[Slot::Path, Slot::Number]).says("last tail bottom end final"),
    looks("summarize {file}", Make::About, READ, "summarize {path} | what is {path} about | tell me what {path} is about | give me a summary of {path} | \
        sum up {path} briefly | describe {path} in short | what is this project about | tell me what this \
        repository is about | tell me about {path} | what is the purpose of {path} | give me an overview of \
        {path} | summarise what you read | tell me what they are | say what each of them is").may(&[Slot::Paths]).says("about summarize summarise summary sum describe purpose overview they each"),
    looks("read every file in {dir}", Make::ReadAll, FILES, "read every file in {dir} | read all the files in the directory {dir} | open each file of this folder | \
        look at all files under {dir} | read all {kind} files in {dir} and summarize what each one does | tell \
        me what they are | go through the whole of them | briefly say what each file is about | look through \
        everything and describe every one").says("every all each everything").may(&[Slot::Dir, Slot::Kind]),
    looks("list the files here", Make::List, FILES, "list the files here | what files are in the current directory | show me what's in here | which files are \
        there | ls | list the files in {dir} | what is in the folder {dir} | show all files of this directory | \
        display the directory listing | look around | list everything in this workspace | what do we have here | \
        see the contents of the directory | list its contents | look what there is | count them").may(PLACE).says("files file here ls directory folder around everything listing workspace project repo what"),
    looks("find all Python files", Make::Find, FILES, "find all {kind} files in this directory | list the {kind} files | which {kind} files are there | show \
        every {kind} file in {dir} | search for {kind} files | look for {kind} files | where are the {kind} \
        files | are there any {kind} files | what {kind} files do we have | find {path} | locate the file {path} \
        | get a list of {kind} files under {dir} | find files that match {path}").needs(&[Slot::Kind]).may(PLACE),
    looks("how many Python files are there?", Make::Count, FILES, "how many {kind} files are there | count the {kind} files in {dir} | what is the number of files | tell \
        me the count of files here").may(&[Slot::Kind, Slot::Dir]).says("many count number"),
    looks("how many lines does {file} have?", Make::Shell("wc -l {path}"), BASH, "how many lines does {path} have | count the lines of {path} | number of lines in {path} | how long is \
        {path}").needs(&[Slot::Path]).says("lines line long"),
    looks("check whether {file} exists", Make::Exists, FILES, "check if {path} exists | does {path} exist | is there a file {path} | find out whether {path} is there | \
        see if {path} exists and list its contents | and print its contents | is {path} present | tell me if \
        there is a {path} | show what is in it").needs(&[Slot::Path]).says("exists exist there present"),
    looks("search for \"main\" in the files", Make::Grep, BASH, "search for {quoted} in {dir} | find {quoted} in the files | where is {quoted} used | grep {quoted} | \
        which files contain {quoted} | look for the word {quoted} in {path} | in which file does {quoted} occur \
        | find all uses of {quoted} | mention text string code of the project").needs(&[Slot::Quoted]).may(&[Slot::Dir, Slot::Kind, Slot::Path]).says("search find where grep contain occur look uses"),
    looks("find what testing framework this project uses", Make::Framework, FILES, "find what testing framework this project uses | which test framework do we use here | figure out the \
        test framework | what framework are the tests written with | find out how the code is tested | look up \
        the testing library of the repo | tell me which framework runs the tests | determine").says("framework library tested"),
    looks("verify it", Make::Verify, READ, "verify it from the parent agent | check the result | look at it yourself | verify that it is there | \
        then check it yourself | check what was made | make sure that it worked | confirm the file | verify the \
        work it did").says("verify check confirm yourself sure"),
    // The machine.
    looks("what is the current git branch?", Make::Shell("git branch --show-current"), BASH, "what is the current git branch | which branch am I on | show the branch | what branch is checked out | \
        tell me the name of the git branch | print it | on what branch are we").says("branch"),
    looks("show the git status", Make::Shell("git status --short --branch"), BASH, "show the git status | what has changed | which files are changed | are there uncommitted changes | is \
        the working tree clean | git status of the repository | show me what i changed").says("status changed changes uncommitted tree"),
    looks("show the last commits", Make::Shell("git log --oneline -n 10"), BASH, "show the last commits | git log | what was committed lately | what is the latest commit | list the \
        recent commits | show the commit history | who committed what | newest").says("commits commit log committed history"),
    looks("show the git diff", Make::Shell("git diff"), BASH, "show the git diff | what is the diff | diff the changes | show me the uncommitted diff").says("diff"),
    looks("list the git worktrees", Make::Shell("git worktree list"), BASH, "list the git worktrees | which worktrees are there | show all worktrees | what worktrees exist | git \
        worktree list")
        .says("worktrees worktree"),
    acts("commit all changes with the message \"wip\"", Make::Shell("git add -A && git commit -m {quoted}"), BASH, "commit", "commit all changes with the message {quoted} | commit everything as {quoted} | git commit my work saying \
        {quoted} | commit that with message").needs(&[Slot::Quoted]),
    acts("merge the branch wt/api", Make::Shell("git merge --no-edit {path}"), BASH, "merge", "merge the branch {path} | git merge {path} into this branch | merge {path} here").needs(&[Slot::Path]),
    looks("what is the date?", Make::Shell("date"), BASH, "what is the date | print the current date | what time is it | show the date and time | which day is it \
        today | tell me today's date | what is the time | display the clock").says("date time day clock"),
    looks("what is the working directory?", Make::Shell("pwd"), BASH, "what is the working directory | where am I | which directory is this | print the current path | pwd | in \
        what folder are we working | tell me where we are").says("directory where pwd folder path"),
    looks("who am I?", Make::Shell("whoami"), BASH, "who am I | what is my user name | whoami | which user is this").says("who whoami user"),
    looks("how much disk space is left?", Make::Shell("df -h ."), BASH, "how much disk space is left | show the free disk space | is the disk full | how full is the disk").says("disk"),
    acts("run the tests", Make::Shell("if [ -f Cargo.toml ]; then cargo test; elif [ -f package.json ]; then npm test; else python3 -m pytest; fi"), BASH, "run execute start",
        "run the tests | execute the test suite | run all tests of the project | start the unit tests").says("tests test"),
    // Files that change.
    acts("delete the file {file}", Make::Shell("rm {paths}"), BASH, "delete remove rm erase", "delete the file {path} | remove {path} | rm {path} | erase {path} please | delete the files {path} and \
        {path} | get rid").needs(&[Slot::Paths]),
    acts("delete the folder build", Make::Shell("rm -r {dir}"), BASH, "delete remove erase", "delete the folder {dir} | remove the directory {dir} | delete the whole directory {dir} with all it \
        holds").needs(PLACE),
    acts("delete all temporary files in /tmp", Make::Shell("rm -f {path}/*.tmp"), BASH, "temporary temp tmp", "delete all temporary files in {path} | remove the temp files from {path} | erase every tmp file in \
        {path} | clean out").needs(&[Slot::Path]),
    acts("rename a.txt to b.txt", Make::Shell("mv -n {from} {to}"), BASH, "rename move mv", "rename {path} to {path} | move {path} to {path} | mv {path} {path} | rename the file {path} into {path} \
        | move the file {path} into the folder {path}").needs(&[Slot::Pair]),
    acts("copy a.txt to b.txt", Make::Shell("cp -n {from} {to}"), BASH, "copy cp duplicate", "copy {path} to {path} | duplicate {path} as {path} | cp {path} {path} | make a copy of {path} called \
        {path}").needs(&[Slot::Pair]),
    acts("create a folder called src", Make::Shell("mkdir -p {dir}"), BASH, "create make mkdir add", "create a folder called {dir} | make a directory {dir} | mkdir {dir} | add an empty folder named {dir} | \
        create the directory {dir}").needs(PLACE),
    acts("add the line \"hello\" to {file}", Make::Append, READ, "append add", "append {quoted} to {path} | add the line {quoted} to {path} | add {quoted} at the end of {path} | add a \
        line saying {quoted} to the file {path} | append the text {quoted} to the end").needs(&[Slot::Path, Slot::Quoted]),
    acts("refactor examples/hello.py: add type hints, docstrings, and a main guard", Make::Mend, READ, "refactor polish improve tidy clean hints docstrings guard annotations refactoring", "refactor {path}: add type hints, docstrings, and a main guard | polish {path} so that it has docstrings, \
        type annotations and an if __name__ guard | improve {path} | tidy up {path} | clean up the code in \
        {path} | add type hints to {path} | add docstrings to {path} | do a refactoring task | refactor the \
        Python code | do some refactoring | add the missing annotations to every function of {path} | python \
        file").may(&[Slot::Paths]),
    acts("review Python files under examples and fix any style issues", Make::Review, FILES, "fix tidy improve clean polish mend correct", "review {kind} files under {dir} and fix any style issues | tidy up the {kind} code in the folder {dir} | \
        fix the style of the {kind} files in {dir} | clean up all {kind} files in {dir} | look through the \
        {kind} code and fix style problems | improve the style of every {kind} file | mend correct polish issue").needs(&[Slot::Kind]).may(PLACE),
    acts("create a Python package under pkg with __init__.py and utils.py", Make::Package, WRITE, "package", "create a Python package under {path} with {path}, {path}, and {path} | set up a package {path} with \
        {path} and {path} | make a python package called {path} containing {path} | build a new package in \
        {path} which has {path} | create generate").needs(&[Slot::Paths]).may(&[Slot::Kind, Slot::Dir]),
    acts("write a very long module: 40 functions with docstrings", Make::Long, WRITE, "write create generate make", "write a very long module: {number} functions with docstrings | create a huge Python module called {path} \
        with {number} documented functions | generate an enormous script with {number} functions | make a big \
        file of {number} functions | write a large python program with many documented functions").needs(&[Slot::Number]).may(&[Slot::Path, Slot::Kind]),
    looks("show me a very long module of 40 functions", Make::ShowLong, NONE, "show me a very long module of {number} functions with docstrings | print a huge Python module with \
        {number} functions here | display an enormous script of {number} documented functions")
        .needs(&[Slot::Number]).may(&[Slot::Kind]).says("module functions script"),
    // Itself.
    looks("hello", Make::Say("Hello! I am the rehearsal model. Ask me what I can do."), NONE, "hello | hi | hey there | good morning | good evening | hello there | greetings | good day | how are you")
        .says("hello hi hey morning evening greetings day how"),
    looks("thanks", Make::Say("You are welcome."), NONE, "thanks | thank you very much | great | nice | perfect | good | that was helpful | well done | cool | \
        good job").says("thanks thank great nice perfect good helpful done cool"),
    looks("ok", Make::Say("Ready when you are."), NONE, "ok | okay | yes | no | fine | alright | and you | sure | go on | continue | never mind | i see").says("ok okay yes no fine alright and sure go continue mind see"),
    looks("what can you do?", Make::Abilities, NONE, "what can you do | help | what can I ask you | who are you | what are you able to do | how can you help \
        me | which requests do you know | give me some examples | what are you | what do you understand").says("what help who how examples requests"),
    looks("what else can you do?", Make::More, NONE, "what else can you do | what more can I ask | show all you can do | everything you know").says("else more all everything"),
    looks("what did I ask you first?", Make::FirstRequest, NONE, "what did I ask you first | what was my first request | what was the first thing I asked | how did this \
        conversation begin").says("first begin"),
    looks("what have I asked for?", Make::Requests, NONE, "what have I asked for | what did I ask you | list my requests so far | which things did I want from you \
        | what was my last question | what did i say before").says("ask asked requests want question say"),
    looks("what did you do?", Make::WhatDidYouDo, NONE, "what did you do | what have you done so far | tell me what you did | what did you change | did you \
        delete it | did you run that | which files did you write | what did it find out | what was done | why \
        did you do that | have you finished | what happened | did you trigger a deployment | did you approve it \
        | have you created the file").says("did done happened finished have").may(&[Slot::Paths]),
    looks("compact the conversation", Make::Tool(Can::Compact), &[Can::Compact], "compact the conversation | summarize our conversation | make room in the context | compact | shrink the \
        context | free the context window").says("compact conversation room context"),
    looks("what tools do you have?", Make::Tools, NONE, "what tools do you have | which tools are now available | list the tools | what tools are there | show \
        your tools | which tools can you call").says("tools tool"),
    // Skills.
    looks("what skills are available?", Make::Skills, &[Can::Skill], "what skills are available | which skills do you have | list the skills | show me your skills | what \
        skills are there | are there any skills | what are the skills").says("skills"),
    looks("load the code-review skill and follow its instructions", Make::LoadSkill, &[Can::Skill], "load the {name} skill and follow its instructions | use the {name} skill | load the relevant skill first \
        | get the {name} skill and tell me what it says | load the skill for building MCP servers | I need to do \
        a code review | apply the skill that fits | open the {name} skill | load it | do what it says").says("skill").may(&[Slot::After("load use get apply open skill do")]),
    // Memory.
    looks("remember that I prefer tabs", Make::Remember, NONE, "remember that {name} is {name} | keep in mind that I like {name} | I prefer using tabs for indentation, \
        not spaces | from now on use {name} | note that {name} | don't forget that {name} | memorize this").says("remember prefer mind forget always never memorize").needs(&[Slot::After("remember prefer mind forget always never memorize")]),
    looks("what did I tell you about my preferences?", Make::Recall, NONE, "what did I tell you about my preferences | what do you know about me | do you remember how I like my \
        code | what do you remember | which preferences do I have | what are my preferences | what have I told \
        you").says("preferences preference remember told").may(&[Slot::After("about remember")]),
    // The board.
    looks("list all tasks and their statuses", Make::Board, &[Can::ListTasks], "list all tasks and their statuses | what tasks are there | show me the board | which tasks do we have | \
        show the task list | what is the status of the tasks | how far are the tasks | who works on which task | \
        what is on the board | look at the task board").says("tasks task board"),
    looks("which tasks are unblocked?", Make::Unblocked, &[Can::ListTasks], "which tasks are unblocked | which tasks can I start now | what is unblocked | are there any unblocked \
        tasks | which ones are now unblocked | what can be claimed | which tasks are free | list the available \
        tasks | show the tasks again").says("unblocked start claimed free available"),
    looks("show the task \"write docs\"", Make::ShowTask, &[Can::GetTask], "show the task {quoted} | show me task {key} in full | get the task {key} | what is the task {key} about \
        | give the details of the {name} task")
        .says("task").needs(&[Slot::After("task the")]),
    acts("claim the first unblocked task", Make::Claim, &[Can::ClaimTask], "claim take grab pick start", "claim the first unblocked task | take the next task | pick an available task | grab the first free task \
        | start on the first task | claim the {name} task | claim task {key} | take the {name} task for yourself \
        | claim it | pick up a task from the board").says("task tasks claim").needs(&[Slot::After("claim take grab pick start")]),
    acts("complete the task", Make::Complete, &[Can::CompleteTask], "complete finish done close completed", "complete it | finish it | mark it as done | close it | complete the {name} task | mark the {name} task \
        as done | finish task {key} | set the task to completed | complete it with complete_task").says("task tasks it complete_task").needs(&[Slot::After("complete finish mark close set")]),
    acts("take a task from the board and do it", Make::WorkBoard, &[Can::ClaimTask], "tasks task board work claim them", "take tasks from the board | look at the board, claim a task that is free with claim_task, do it, and \
        complete it with complete_task | do the tasks on the board | claim and work by themselves | claim one of \
        the tasks and do it | work on the tasks of the board | pick them up by yourself and work"),
    // Schedules; making one is a frame of its own.
    looks("list all cron jobs", Make::Tool(Can::ListCrons), &[Can::ListCrons], "list all cron jobs | what is scheduled | show the cron jobs | which reminders are there | display the \
        schedule | are there any scheduled prompts | verify with list_crons | check the schedule | list the \
        scheduled jobs | list my reminders | look at list_crons").says("cron crons scheduled schedule reminders list_crons"),
    acts("cancel the recurring job", Make::CancelCron, &[Can::CancelCron], "cancel stop delete remove unschedule", "cancel the recurring job | stop the recurring job | delete the scheduled job that {name} | cancel all \
        scheduled jobs | remove the cron job | unschedule it | cancel job {key} | cancel the reminder | stop the \
        reminder about {name} | cancel the schedule").says("cron job jobs scheduled schedule reminder reminders recurring unschedule").needs(&[Slot::After("cancel stop delete remove unschedule")]),
    // The team; hiring and handing out are frames of their own.
    looks("check your inbox", Make::Inbox, &[Can::Inbox], "check your inbox for {name}'s result | open your mailbox | is there mail for you | what did {name} write \
        | do you have mail | look into the inbox | is there any new message from {name} | read your mail | what \
        did {name} report | has {name} answered | any news from {name}").says("inbox mailbox mail write message report answered news").may(&[Slot::Names]),
    acts("ask alice to leave", Make::Leave, &[Can::Shutdown], "shutdown leave dismiss shut fire go stop", "request her shutdown | ask {name} to leave | dismiss {name} | shut {name} down | let {name} go | send \
        {name} home | tell them to leave | request the shutdown of {name} | dismiss her when she is done | then \
        dismiss both").may(&[Slot::Names]),
    acts("ask bob for a plan", Make::AskPlan, &[Can::RequestPlan], "plan plans", "ask {name} for a plan | have him submit a plan first | request a plan from {name} | ask {name} for \
        another plan | let {name} send you a plan before he starts | ask them to submit plans before claiming \
        tasks | he has to submit a plan first | have both submit a plan before they claim a task | have her \
        write a plan first | ask each to submit a plan | make {name} plan it first").may(&[Slot::Names, Slot::After("for: about")]),
    acts("submit a plan", Make::OwnPlan, &[Can::SubmitPlan], "plan", "submit a plan first | send a plan | before you change anything, submit a plan with submit_plan and wait \
        for the answer | make a plan first and submit it"),
    acts("approve bob's plan", Make::Approve, &[Can::ReviewPlan], "approve accept", "approve {name}'s plan | review and approve it | accept the plan of {name} | approve it | review the \
        plan, then approve it | approve both plans | approve their plans when they come | review it and approve \
        the plan").may(&[Slot::Names, Slot::Key]),
    acts("reject bob's plan", Make::Reject, &[Can::ReviewPlan], "reject decline refuse", "reject {name}'s plan | reject it | decline the plan of {name} | review it and reject it | reject the \
        plan because {quoted} | refuse the next plan | reject the plan and say {quoted} | with the feedback").may(&[Slot::Names, Slot::Key, Slot::Quoted]),
    looks("report when they are done", Make::Report, &[Can::Spawn], "report when they are done | give me a report at the end | summarize their results when both have \
        finished | tell me when everything is done | report back at the end | wait for their reports | then tell \
        me what they did | report the results | tell me what each of them did | all tasks").says("report reports results tell summarize"),
    looks("watch them work", Make::WaitForThem, NONE, "watch them auto-claim and work | watch how they claim them | watch them claim and work | watch them \
        auto-claim and work in isolated directories | let them work by themselves | wait for them | have them \
        work on the tasks on their own")
        .says("watch themselves wait own"),
    // Worktrees.
    acts("create worktrees for the tasks", Make::Worktrees, &[Can::MakeTree], "worktrees worktree", "create worktrees for each (bind with task_id) | make worktrees for each of them bound by task_id | \
        create a worktree for each and bind it with task_id | add a worktree for each task (bind it) | create \
        worktrees for them | make a worktree for each, bound to its task | create a worktree for every task | \
        give each task its own worktree | all tasks").says("worktree worktrees"),
    acts("create a worktree called api", Make::Worktree, &[Can::MakeTree], "worktree", "create a worktree called {name} | make a worktree named {name} for task {key} | add the worktree {name} \
        again | create the worktree {name} | and bind it to the task {key}").needs(&[Slot::After("called named worktree")]),
    acts("remove the worktree api", Make::RemoveTree, &[Can::RemoveTree], "remove delete drop", "remove the worktree {name} | delete the worktree {name} | drop the {name} worktree | remove worktree")
        .says("worktree").needs(&[Slot::After("worktree remove delete drop")]),
    acts("keep the worktree api", Make::KeepTree, &[Can::KeepTree], "keep", "keep the worktree {name} for review | keep the {name} worktree | keep worktree {name}").says("worktree").needs(&[Slot::After("worktree keep")]),
    acts("remove the worktree api and discard its changes", Make::DiscardTree, &[Can::RemoveTree], "discard", "remove the worktree {name} and discard its changes | discard the worktree {name} | delete the worktree \
        {name} with all changes, discard them").says("discard").needs(&[Slot::After("worktree")]),
    acts("write a skill called tea that says \"Boil water.\"", Make::WriteSkill, WRITE, "skill", "write a skill called {name} that says {quoted} | create a skill named {name} with the text {quoted} | \
        make a skill {name} about this project: {quoted}").needs(&[Slot::Quoted, Slot::After("called named skill")]),
];
