//! Teammates: hiring, writing to them, their plans, their leaving, and worktrees for their tasks.
//!
//! A row that awaits mail is made when the mail has come, in whichever turn that is. Invariant: special rows stand above
//! general ones.

use crate::model::rehearsal::board;
use crate::model::rehearsal::table::{Awaits, Intent, ROW, way};
use crate::model::rehearsal::team::{fillings, hiring, told, works};

const NEEDS: &str = "spawn_teammate";

/// The rows.
pub const TEAM: &[Intent] = &[
    Intent {
        name: "hire a teammate",
        needs: NEEDS,
        says: &[
            "spawn|hire|recruit|enlist {job:text}",
            "start|launch|bring {job:name}",
            "start|launch|bring|call in|on|up {job:name}",
            "start|launch|bring|add|create|get|need|want|make * teammate|teammates|colleague|colleagues {job:text}",
            "start|launch|bring|add|create|get|need|want|make {n:number} teammates|colleagues|agents",
            "start|launch|bring|add|create|get|need|want|make agent|agents|developer|tester|reviewer|writer called|named {job:text}",
        ],
        by: &[way(
            "spawn_teammate",
            &[
                ("name", "{name}"),
                ("role", "{role}"),
                ("prompt", "{prompt}"),
            ],
        )],
        changes: true,
        whole: true,
        staffed: Some(hiring::hire),
        later: Some(fillings::hired),
        says_of: Some(told::hired),
        told: "{said}",
        doing: "hire {team}",
        ..ROW
    },
    Intent {
        name: "ask for a plan",
        needs: "request_plan",
        says: &[
            "ask|request|get|want|demand|tell * {who:mate} * plan|plans",
            "request|demand|want|need|require|expect|get plan|plans from|of|by {who:mate}",
            "have|let|make {who:mate} submit|send|write|propose|make plan|plans",
        ],
        by: &[way(
            "request_plan",
            &[("teammate", "{who}"), ("task", "{what}")],
        )],
        changes: true,
        beside: true,
        whole: true,
        staffed: Some(fillings::plan),
        told: "I asked {who} for a plan.",
        doing: "ask {who} for a plan",
        ..ROW
    },
    Intent {
        name: "answer a plan",
        needs: "review_plan",
        says: &[
            "approve|accept|reject|decline|refuse|confirm|okay * plan|plans|it|them",
            "approve|accept|reject|decline|refuse {who:mate}",
            "review|answer|check|judge * plan|plans",
            "review it|them",
            "do not approve|accept",
            "^ approve|reject|review|accept|decline $",
        ],
        by: &[way(
            "review_plan",
            &[
                ("request_id", "{request}"),
                ("approve", "{approve|json}"),
                ("feedback", "{feedback}"),
            ],
        )],
        changes: true,
        awaits: Some(Awaits::Plan),
        staffed: Some(fillings::verdict),
        later: Some(fillings::request),
        told: "{who}'s plan is {approved}.",
        doing: "answer {who}'s plan",
        ..ROW
    },
    Intent {
        name: "ask a teammate to leave",
        needs: "request_shutdown",
        says: &[
            "request|ask|send|issue|demand|tell * shutdown",
            "shut down {who:mate}",
            "shut {who:mate} down",
            "shut both|all|everybody|everyone|them down",
            "shut down both|all|everybody|everyone|them",
            "shutdown|dismiss|fire|terminate|release|stop {who:mate}",
            "ask|tell|let|have {who:mate} leave|quit|stop|shut|go $",
            "ask|tell|let|have {who:mate} shut down",
            "send {who:mate} home|away",
        ],
        by: &[way("request_shutdown", &[("teammate", "{who}")])],
        changes: true,
        beside: true,
        awaits: Some(Awaits::Result),
        staffed: Some(fillings::each),
        told: "I asked {who} to leave.",
        doing: "ask {who} to leave",
        ..ROW
    },
    Intent {
        name: "look into the inbox",
        needs: "check_inbox",
        says: &[
            "check|read|look|open|see|fetch|get|show|empty * inbox|mail|mailbox|mails",
            "is|are|any|do|did|got|what * inbox|mail|mailbox|mails",
            "did|has|have {who:mate} report|reported|answer|answered|finished|finish|written|reply|replied|done",
            "check|see|look|fetch|get|is|any for|if|result|results|news * {who:mate} * result|results|report|reported|finished|answered|done",
        ],
        by: &[way("check_inbox", &[])],
        told: "{inbox}",
        doing: "look into my inbox",
        ..ROW
    },
    Intent {
        name: "tell who does what",
        needs: NEEDS,
        says: &[
            "who is|are|does doing|working|busy|at|what",
            "what is|are {who:mate} doing|up",
            "what is|are teammates|team doing|up",
            "how is|are {who:mate} doing|getting",
            "status|state of team|teammates",
            "what|show|list|tell * team|teammates $",
        ],
        told: "{team}",
        ..ROW
    },
    Intent {
        name: "watch the team",
        needs: NEEDS,
        says: &[
            "watch|observe|monitor|follow|supervise {who:mate}",
            "watch|observe|monitor|follow|supervise how|what|as|while|auto-claim",
            "see|let how|what {who:mate} work|do|auto-claim|claim",
            "^ {who:mate} auto-claim|claim|work",
            "wait for|until {who:mate}",
            "await {who:mate}",
        ],
        by: &[way("list_tasks", &[])],
        whole: true,
        awaits: Some(Awaits::All),
        says_of: Some(board::who_did_what),
        told: "{said}",
        doing: "look at the board once more",
        ..ROW
    },
    Intent {
        name: "write to a teammate",
        needs: "send_message",
        says: &[
            "ask|tell|message|mail|notify|instruct|remind|inform|have|let {who:mate} {content:text}",
            "send|write|drop|leave * message|mail|note|word to|for {who:mate} {content:text}",
            "send|write {who:mate} message|mail|note {content:text}",
            "write to {who:mate} {content:text}",
        ],
        by: &[way(
            "send_message",
            &[("to", "{who}"), ("content", "{content}")],
        )],
        changes: true,
        beside: true,
        whole: true,
        staffed: Some(fillings::message),
        told: "I wrote to {who}: {content}",
        doing: "write to {who}",
        ..ROW
    },
    Intent {
        name: "create worktrees for tasks",
        needs: "create_worktree",
        says: &[
            "create|make|add|set|open|give|bind|prepare * worktree|worktrees called|named {name:word}",
            "create|make|add|set|open|give|bind|prepare * worktree|worktrees",
            "need|want with|each * worktree|worktrees",
        ],
        by: &[way(
            "create_worktree",
            &[("name", "{worktree}"), ("task_id", "{task|json}")],
        )],
        changes: true,
        later: Some(fillings::worktrees),
        told: "I {first}.",
        doing: "create the worktrees",
        ..ROW
    },
    Intent {
        name: "keep a worktree",
        needs: "keep_worktree",
        says: &["keep worktree {name:word}", "keep {name:word} worktree"],
        by: &[way("keep_worktree", &[("name", "{name}")])],
        changes: true,
        told: "I {first}.",
        doing: "keep the worktree {name}",
        ..ROW
    },
    Intent {
        name: "remove a worktree",
        needs: "remove_worktree",
        says: &[
            "remove|delete|drop worktree {name:word}",
            "remove|delete|drop {name:word} worktree",
        ],
        by: &[way("remove_worktree", &[("name", "{name}")])],
        changes: true,
        told: "I {first}.",
        doing: "remove the worktree {name}",
        ..ROW
    },
    Intent {
        name: "put small tasks on the board",
        needs: "create_task",
        says: &[
            "create|make|add|open|put|set|prepare|need|want {n:number} task|tasks $",
            "create|make|add|open|put|set|prepare|need|want {n:number} word|small|little|easy|simple|sample|example|demo task|tasks $",
            "create|make|add|open|put|set|prepare {n:number} * tasks on|to|onto|for board|them $",
            "set|put|line up {n:number} task|tasks $",
            "set|put|line up {n:number} word|small|little|easy|simple|sample|example|demo task|tasks $",
            "create|make|add|open|put|set|prepare some|few|several tasks $",
            "create|make|add|open|put|set|prepare some|few|several tasks on|to board $",
        ],
        by: &[way(
            "create_task",
            &[("subject", "{subject}"), ("blockedBy", "{blockers|json}")],
        )],
        changes: true,
        beside: true,
        whole: true,
        splits: Some(works::small_tasks),
        says_of: Some(board::created),
        told: "{said}",
        doing: "create the task “{subject}”",
        ..ROW
    },
];
