package cli

import (
	"errors"
	"strings"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/workflow"
)

type workflowCommand struct {
	Phases       phasesCommand       `cmd:"" default:"withargs" help:"Show the phases, or one with its prompts."`
	Conversation conversationCommand `cmd:"" help:"Show what was said."`
	Decisions    decisionsCommand    `cmd:"" help:"Show what was decided and approved, also in a session without a workflow."`
}

// Help is shown below the usage.
func (workflowCommand) Help() string {
	return `Shows what a session keeps of a phased workflow.

    sessions workflow 8f14
    sessions workflow 8f14 --phase plan
    sessions workflow conversation 8f14
    sessions workflow decisions 8f14`
}

type phasesCommand struct {
	anywhere
	Phase string `placeholder:"ID" help:"Show the prompts and the output of this phase."`
}

// Help is shown below the usage.
func (phasesCommand) Help() string {
	return `Shows the phases of a session's workflow. In a pipe every line has the columns id, name, status, time, size of the output, and error, separated by tabs.`
}

// Run shows.
func (c *phasesCommand) Run(a *app) error {
	t, err := c.reach(a)
	if err != nil {
		return err
	}
	phases, damage := workflow.New(t.store).PhaseOutputs(a.ctx, t.id)
	if damage != nil && !errors.Is(damage, sessionstore.ErrCorrupt) {
		return damage
	}
	if c.Phase != "" {
		return errors.Join(c.one(a, phases), damage)
	}
	var rows [][]string
	for _, p := range phases {
		output := ""
		if p.Output != nil {
			output = size(int64(len(*p.Output)))
		}
		rows = append(rows, []string{p.PhaseID, p.PhaseName, p.Status, a.moment(p.UpdatedAt), output, text(p.Error)})
	}
	columns := []screen.Column{
		{Title: "Phase", Tint: screen.In(screen.Green)},
		{Title: "Name", Min: 10, Drop: 1, Tint: screen.In(screen.Cyan)},
		{Title: "Status", Tint: phaseTint},
		{Title: "Changed", Drop: 3, Tint: screen.In(screen.Yellow)},
		{Title: "Output", Right: true, Drop: 2},
		{Title: "Error", Min: 10, Drop: 4, Tint: screen.In(screen.Red)},
	}
	return errors.Join(a.list(filled(phases), "The session has no phases.", columns, rows), damage)
}

// one shows all of a phase.
func (c *phasesCommand) one(a *app, phases []workflow.PhaseRecord) error {
	for _, p := range phases {
		if p.PhaseID != c.Phase {
			continue
		}
		if a.json {
			return a.writeJSON(p)
		}
		a.page()
		a.fields([][2]string{{"Phase", p.PhaseID}, {"Name", p.PhaseName}, {"Status", p.Status}, {"Created", a.moment(p.CreatedAt)}, {"Changed", a.moment(p.UpdatedAt)}, {"Error", text(p.Error)}})
		for _, part := range []struct {
			title string
			text  *string
		}{{"System prompt", p.SystemPrompt}, {"User input", p.UserInput}, {"Output", p.Output}} {
			if part.text != nil {
				a.Print("\n" + a.Paint(screen.Bold, part.title) + "\n" + a.rendered(strings.TrimRight(screen.Lines(*part.text), "\n ")) + "\n")
			}
		}
		return nil
	}
	return errors.New("no phase " + screen.Plain(c.Phase) + " in this session; \"sessions workflow\" without --phase lists those there are")
}

func phaseTint(status string) screen.Tint {
	switch status {
	case "completed":
		return screen.Green
	case "failed", "error":
		return screen.Red
	}
	return screen.Yellow
}

// text is "" for nil.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

type conversationCommand struct {
	anywhere
	Phase string `placeholder:"ID" help:"Only what was said in this phase."`
}

// Help is shown below the usage.
func (conversationCommand) Help() string {
	return `Shows what was said about a session's workflow: the lines of session_conversation.jsonl. "show -T" and "tail" show the transcript.`
}

// Run shows.
func (c *conversationCommand) Run(a *app) error {
	t, err := c.reach(a)
	if err != nil {
		return err
	}
	var phase *string
	if c.Phase != "" {
		phase = &c.Phase
	}
	said, damage := workflow.New(t.store).Conversation(a.ctx, t.id, phase)
	if damage != nil && !errors.Is(damage, sessionstore.ErrCorrupt) {
		return damage
	}
	if a.json {
		return errors.Join(a.writeJSON(filled(said)), damage)
	}
	if len(said) == 0 {
		a.Notef("The session has no conversation of a workflow.")
	}
	a.page()
	for _, m := range said {
		head := m.Role + "  " + a.moment(m.CreatedAt)
		if m.PhaseID != nil {
			head += "  " + *m.PhaseID
		}
		a.Printf("%s\n", a.Paint(screen.Green, screen.Plain(head)))
		a.Print(a.rendered(strings.TrimRight(screen.Lines(m.Content), "\n ")) + "\n\n")
	}
	return damage
}
