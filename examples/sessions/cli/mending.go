package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

// mending are the flags of what goes out to a tool.
type mending struct {
	For    string `enum:",anthropic,openai,gemini" default:"" placeholder:"PROVIDER" help:"The provider that the tool sends it to, which has to take it: anthropic, openai or gemini (default: that of the tool's maker)." group:"For a tool"`
	AsItIs bool   `help:"Change nothing, also where the provider refuses it." group:"For a tool"`
}

// isSet reports whether a flag was given.
func (m mending) isSet() bool { return m.For != "" || m.AsItIs }

// options returns the options for package foreign.
func (m mending) options(tool foreign.Tool) *foreign.ExportOptions {
	to := foreign.Target(tool)
	switch m.For {
	case "anthropic":
		to.Provider = accept.Anthropic
	case "openai":
		to.Provider = accept.OpenAIResponses
	case "gemini":
		to.Provider = accept.Gemini
	}
	return &foreign.ExportOptions{For: &to, AsItIs: m.AsItIs}
}

// unmended says what helps where an export cannot be mended.
func unmended(err error) error {
	if errors.Is(err, foreign.ErrUnmended) {
		return fmt.Errorf("%w; --as-it-is leaves it as it is, and --for names another provider", err)
	}
	return err
}

// mended is a change of an export, as JSON.
type mended struct {
	Kind    accept.AmendKind `json:"kind"`
	Message int              `json:"message"`
	Reasons []accept.Reason  `json:"reasons"`
}

func mendedJSON(changes []foreign.Change) []mended {
	all := []mended{}
	for _, c := range changes {
		all = append(all, mended(c))
	}
	return all
}

// noteMended tells what goes out otherwise than the session has it.
func (a *app) noteMended(changes []foreign.Change) {
	const most = 10
	for i, c := range changes {
		if i == most {
			a.Notef("  and %s more; --json has all", number(len(changes)-most))
			return
		}
		what := map[accept.AmendKind]string{accept.Replaced: "message %d changed there", accept.Dropped: "message %d left out there", accept.Inserted: "a message added there after message %d"}[c.Kind]
		var why []string
		for _, r := range c.Reasons {
			why = append(why, strings.ReplaceAll(string(r), "_", " "))
		}
		a.Notef("  "+what+": %s", c.Message, strings.Join(why, ", "))
	}
}
