package cli

// shelf are the commands that keep, carry and look through sessions.
type shelf struct {
	Undo   undoCommand   `cmd:"" group:"Mend" help:"Take back the last repair, rewind or removal."`
	Verify verifyCommand `cmd:"" group:"Mend" help:"Check every file of all sessions."`

	Trash  trashCommand  `cmd:"" group:"Copy and remove" help:"Show, bring back or remove for good what was deleted."`
	Export exportCommand `cmd:"" group:"Copy and remove" help:"Write a session as Markdown, HTML, JSONL or an archive."`
	Import importCommand `cmd:"" group:"Copy and remove" help:"Make a session of an archive, a directory or JSONL."`

	Tail         tailCommand         `cmd:"" group:"Look" help:"Show the end of a session, and with -f what comes."`
	Events       eventsCommand       `cmd:"" group:"Look" help:"Look into the audit log, of any size."`
	Search       searchCommand       `cmd:"" group:"Look" help:"Find text in the conversations of all projects."`
	Diff         diffCommand         `cmd:"" group:"Look" help:"Show where two sessions part, as forks do, and what each says after that."`
	Stats        statsCommand        `cmd:"" group:"Look" help:"Add up tokens, costs and time by day, model, project or session."`
	Phases       phasesCommand       `cmd:"" group:"Look" help:"Show the phases of a session's workflow, or one with its prompts."`
	Conversation conversationCommand `cmd:"" group:"Look" help:"Show what was said about a session's workflow."`
	Decisions    decisionsCommand    `cmd:"" group:"Look" help:"Show what was decided and approved in a session."`
	Secrets      secretsCommand      `cmd:"" group:"Look" help:"List the secrets in a transcript by line and kind, and never show one."`
	Viewer       viewerCommand       `cmd:"" group:"Look" help:"Show sessions in a browser on this machine."`

	cloudCommands
}
