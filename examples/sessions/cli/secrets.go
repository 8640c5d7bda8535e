package cli

import (
	"errors"
	"os"
	"strconv"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/hybrid/redact"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

type secretsCommand struct {
	anywhere
}

// Help is shown below the usage.
func (secretsCommand) Help() string {
	return `Lists the secrets in a transcript by line and kind, and never shows one. What is listed is what "sessions export --redact" replaces: tokens by their shape, values by names as API_KEY or password, and the values of this environment's own secrets. A password that looks like a word, or that is told in prose, is not found.

The exit code is 0 when there is none, and 1 when there are some or the transcript cannot be read to its end.

    sessions secrets 8f14
    sessions secrets 8f14 --json | jq -r '.secrets[].kind' | sort | uniq -c`
}

// finding is a secret in a transcript.
type finding struct {
	Line int    `json:"line"`
	Role string `json:"role"`
	Kind string `json:"kind"`
}

// secretRules are the rules by which the tool finds secrets.
func secretRules() *redact.Finder { return redact.Secrets().WithEnviron(os.Environ()) }

// Run lists.
func (c *secretsCommand) Run(a *app) error {
	t, err := c.reach(a)
	if err != nil {
		return err
	}
	found, damage := findings(a, t)
	if damage != nil && !errors.Is(damage, sessionstore.ErrCorrupt) {
		return damage
	}
	if a.json {
		err = a.writeJSON(struct {
			Session string    `json:"session_id"`
			Secrets []finding `json:"secrets"`
		}{t.id, found}, jsonIndent)
	} else {
		a.findingTable(found)
	}
	switch {
	case err != nil || damage != nil:
		return join(err, damage)
	case len(found) > 0:
		return exitCode(exitError)
	}
	return nil
}

// findings returns the secrets of a transcript. What is damaged is read as far as
// it can be, and then it is an error.
func findings(a *app, t target) ([]finding, error) {
	rules, found, number := secretRules(), []finding{}, 0
	var line []byte
	for m, err := range t.store.Messages(a.ctx, t.id) {
		if err != nil {
			return found, err
		}
		number++
		line = m.AppendTo(line[:0])
		for _, kind := range rules.Kinds(line) {
			found = append(found, finding{number, m.Role(), kind})
		}
	}
	return found, a.ctx.Err()
}

func (a *app) findingTable(found []finding) {
	if len(found) == 0 {
		a.Notef("%s No secrets found.", a.PaintError(screen.Green, "✓"))
		return
	}
	rows := make([][]string, len(found))
	lines := map[int]bool{}
	for i, f := range found {
		rows[i] = []string{strconv.Itoa(f.Line), f.Role, f.Kind}
		lines[f.Line] = true
	}
	a.Table([]screen.Column{
		{Title: "Line", Whole: true, Tint: screen.In(screen.Green)},
		{Title: "Role", Drop: 1},
		{Title: "Kind", Min: 12, Tint: screen.In(screen.Yellow)},
	}, rows)
	a.Notef("%s in %s", count(len(found), "secret"), count(len(lines), "line"))
}
