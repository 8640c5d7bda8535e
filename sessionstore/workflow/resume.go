package workflow

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/limits"
	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// ResumeContext is what the next phase is given.
type ResumeContext struct {
	History            []ChatMessage `json:"history"`
	LastCompletedPhase string        `json:"last_completed_phase"`
	TotalPhases        int           `json:"total_phases"` // of the manifest
	CompletedPhases    int           `json:"completed_phases"`
}

// ResumeResult tells how a workflow goes on. NextPhaseID is empty when the
// last phase is completed.
type ResumeResult struct {
	Session     sessionstore.Metadata `json:"session"`
	NextPhaseID string                `json:"next_phase_id"`
	Context     ResumeContext         `json:"context"`
}

// Resume returns how the workflow of a session goes on: with the phase that
// follows the last completed one in the session's manifest. It changes
// nothing. A session that is completed, failed or of any other status than
// in_progress is refused, as is one without completed phases; no status is
// in_progress. Beside damage in the log the result holds what could be read,
// and the error Is [sessionstore.ErrCorrupt]. It reads the whole log, and needs the
// memory of the inputs and outputs in it, not that of the system prompts.
func (l *Log) Resume(ctx context.Context, sessionID string) (ResumeResult, error) {
	md, err := l.store.Metadata(ctx, sessionID)
	switch {
	case errors.Is(err, sessionstore.ErrClosed), err != nil && ctx.Err() != nil:
		return ResumeResult{}, err
	case err != nil:
		return ResumeResult{}, &textError{fmt.Sprintf("Session %s not found: %v", limits.ID(sessionID), err), err}
	}
	if err := resumable(sessionID, md); err != nil {
		return ResumeResult{}, err
	}
	records, damage := l.phaseRecords(ctx, sessionID, mostOf{prompt: 0, input: math.MaxInt, output: math.MaxInt})
	if err := ignoreDamage(damage); err != nil {
		return ResumeResult{}, err
	}
	done := slices.DeleteFunc(slices.Clone(records), func(r PhaseRecord) bool { return r.Status != completed })
	if len(done) == 0 {
		text := "Session " + sessionID + " has no completed phases to resume from"
		return ResumeResult{}, &textError{text, damage}
	}
	last := done[len(done)-1].PhaseID
	manifest, err := l.manifestOf(md)
	if err != nil {
		return ResumeResult{}, fmt.Errorf("resume session %q: %w", limits.ID(sessionID), err)
	}
	next, err := manifest.after(last)
	if err != nil {
		return ResumeResult{}, fmt.Errorf("resume session %q: %w", limits.ID(sessionID), err)
	}
	return ResumeResult{md, next, ResumeContext{
		History:            ReconstructContext(records, DefaultMaxPairs),
		LastCompletedPhase: last,
		TotalPhases:        len(manifest.Phases),
		CompletedPhases:    len(done),
	}}, damage
}

// resumable refuses a session that is not in progress.
func resumable(id string, md sessionstore.Metadata) error {
	if lacks(md, statusMember) {
		return nil
	}
	raw, _ := md.Lookup(statusMember)
	status := string(raw)
	switch pyjson.KindOf(raw) {
	case pyjson.String:
		status = md.Text(statusMember)
	case pyjson.Object, pyjson.Array:
		status = "an object or array"
	}
	switch status {
	case inProgress:
		return nil
	case completed:
		return &textError{text: "Session " + limits.ID(id) + " already completed"}
	case failed:
		return &textError{text: "Session " + limits.ID(id) + " failed and cannot be resumed"}
	}
	return &textError{text: "Session " + limits.ID(id) + " has invalid status: " + limits.ID(status)}
}

// manifestOf returns the manifest that a session began with.
func (l *Log) manifestOf(md sessionstore.Metadata) (Manifest, error) {
	if lacks(md, manifestMember) {
		if len(l.manifests) == 0 {
			return Manifest{}, errors.New("no manifest is known")
		}
		return l.manifests[0], nil
	}
	name := md.Text(manifestMember)
	i := slices.IndexFunc(l.manifests, func(m Manifest) bool { return m.Name == name })
	if i < 0 {
		return Manifest{}, fmt.Errorf("manifest %q is unknown", name)
	}
	return l.manifests[i], nil
}

// after returns the phase that follows, empty after the last.
func (m Manifest) after(phase string) (string, error) {
	i := slices.Index(m.Phases, phase)
	switch {
	case i < 0:
		return "", fmt.Errorf("phase %q is not in manifest %q", phase, m.Name)
	case i == len(m.Phases)-1:
		return "", nil
	}
	return m.Phases[i+1], nil
}
