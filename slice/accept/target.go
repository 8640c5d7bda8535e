package accept

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Host is where a provider's models run. The rules for pictures differ with it.
type Host string

// The hosts.
const (
	OwnAPI      Host = ""             // the provider's
	Bedrock     Host = "bedrock"      // Amazon Bedrock, of Anthropic's models
	GoogleCloud Host = "google_cloud" // Vertex AI, of Anthropic's models and of Gemini
)

// Target is what a conversation is sent to. The zero Target is Anthropic's own API.
type Target struct {
	Provider Provider
	Host     Host
	Window   int       // tokens that the model takes; 0: not known
	Pictures *Pictures // the rules for pictures; nil: those of [PicturesOf]
	Scale    Scaler    // makes pictures smaller for Fix; nil: Fix takes them out
}

// rules returns the rules of a target, and false for no provider.
func (t Target) rules() (rules, bool) {
	r, ok := rulesOf(t.Provider)
	r.limits = PicturesOf(t.Provider, t.Host, t.Window)
	if t.Pictures != nil {
		r.limits = *t.Pictures
	}
	return r, ok
}

// Check is the function [Check] for a target. It also returns what sources disagree on, as
// Disputed.
func (t Target) Check(msgs []sessionstore.Message) []Refusal {
	refused, _ := t.CheckAll(each(msgs)) // no error: they are read
	return refused
}

// each yields messages.
func each(msgs []sessionstore.Message) iter.Seq2[sessionstore.Message, error] {
	return func(yield func(sessionstore.Message, error) bool) {
		for _, m := range msgs {
			if !yield(m, nil) {
				return
			}
		}
	}
}

// CheckAll is [Target.Check] of messages that are read while it goes on, such as those of
// [sessionstore.Store.Messages] (which reads the file twice) or [sessionstore.Store.Since] (which
// reads an indexed one once): it keeps none of them. It returns the first error of msgs.
func (t Target) CheckAll(msgs iter.Seq2[sessionstore.Message, error]) ([]Refusal, error) {
	r, ok := t.rules()
	if !ok {
		return []Refusal{{Reason: UnknownProvider, Row: -1, Other: -1}}, nil
	}
	rows, refused, err := r.read(msgs)
	if err != nil {
		return nil, err
	}
	_, bad := r.badIDs(rows)
	refused = append(refused, bad...)
	found := r.match(rows)
	refused = append(refused, found.refusals(rows)...)
	refused = append(refused, r.tooMuch(rows)...)
	r.order(rows, found, func(row, before int) {
		why := RolesInARow
		if before < 0 {
			why = FirstNotUser
		}
		refused = append(refused, Refusal{Reason: why, Row: row, Other: before})
	})
	slices.SortStableFunc(refused, func(a, b Refusal) int { return cmp.Compare(a.Row, b.Row) })
	return refused, nil
}

// certain returns the refusals that no source disputes.
func certain(all []Refusal) []Refusal {
	return slices.DeleteFunc(all, func(r Refusal) bool { return r.Disputed })
}

// Fix is the function [Fix] for a target. It leaves what is [Refusal.Disputed].
func (t Target) Fix(msgs []sessionstore.Message) (Fixed, error) {
	r, ok := t.rules()
	if !ok {
		return Fixed{}, errors.New("mend messages: unknown provider")
	}
	if len(certain(t.Check(msgs))) == 0 {
		return Fixed{Messages: slices.Clone(msgs)}, nil
	}
	m := &fixer{rules: r, given: msgs, scale: t.Scale}
	m.start()
	m.mendRows()
	m.mendIDs()
	m.mendPairs()
	m.mendOrder()
	m.mendAmount()
	if m.err != nil {
		return Fixed{}, fmt.Errorf("mend messages: %w", m.err)
	}
	mended := m.mending()
	if left := certain(t.Check(mended.Messages)); len(left) > 0 {
		return Fixed{}, fmt.Errorf("mend messages: %s", left[0])
	}
	return mended, nil
}
