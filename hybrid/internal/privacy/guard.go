// Package privacy decides which sessions may leave this machine, and under which rules of
// redaction. Package private says which sessions stay.
package privacy

import (
	"errors"
	"fmt"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/track"
	"github.com/amplifier-go/sessionstorage/internal/store/private"
)

// The errors of this package, for [errors.Is]. Package hybrid documents them.
var (
	ErrRedaction = errors.New("rules of redaction hold here that this program does not apply")
	ErrHeld      = private.ErrHeld
	ErrOrphan    = fmt.Errorf("%w: its parent is neither here nor in the remote; %s", ErrHeld, private.HowToRelease)
	ErrLocal     = private.ErrLocal
	ErrKeptLate  = fmt.Errorf("%w, but came after it was sent: the remote has what was sent, until Remove removes it", ErrLocal)
)

// Verdict is the decision of the rules about a session.
type Verdict = private.Verdict

// Guard decides which sessions of a directory may leave this machine. It makes no request. Its
// fields are set before the first call; its methods may be called by many goroutines.
type Guard struct {
	*private.Guard
	Redact track.Redactor // nil: exact bytes
}

// RedactionHolds returns an error when the directory remembers rules of redaction
// that this program does not apply.
func (g *Guard) RedactionHolds() error {
	version, err := g.Book.Rules().Redaction()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRedaction, err)
	}
	if version == "" {
		return nil
	}
	if !g.Applies(version) {
		return fmt.Errorf("%w (this directory: %q)", ErrRedaction, version)
	}
	if own := g.Redact.Version(); !replica.Follows(own, version) {
		return fmt.Errorf("%w (this directory: %q; %q may find less)", ErrRedaction, version, own)
	}
	return nil
}

// Applies reports whether this program has the rules of a version, or some that follow
// them.
func (g *Guard) Applies(version string) bool {
	return g.Redact != nil && replica.RulesName(g.Redact.Version()) == replica.RulesName(version)
}
