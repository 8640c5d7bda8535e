package phaselog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore/workflow"
)

// sameLog reports whether what was read is still the beginning of f.
func (x *Index) sameLog(f io.ReadSeeker, at sessiondir.Stamp) (bool, error) {
	if x.read == 0 || at.Size < x.read || at.Inode != x.log.Inode || at.Dev != x.log.Dev {
		return false, nil
	}
	if _, err := f.Seek(x.read-int64(len(x.mark)), io.SeekStart); err != nil {
		return false, err
	}
	now := make([]byte, len(x.mark))
	if _, err := io.ReadFull(f, now); err != nil {
		return false, err
	}
	return bytes.Equal(now, x.mark), nil
}

// Whole returns the record of that id, unchanged and with its prompts, as
// [workflow.Log.PhaseOutputs] has it. The error Is [fs.ErrNotExist] when there
// is none.
func (x *Index) Whole(ctx context.Context, id int64) (rec workflow.PhaseRecord, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.refresh(ctx); err != nil {
		return rec, err
	}
	i := slices.IndexFunc(x.phases, func(e *entry) bool { return e.ID == id })
	if i < 0 {
		return rec, fmt.Errorf("read phase output %d: %w", id, fs.ErrNotExist)
	}
	err = x.store.Inside().Read(ctx, x.id, func(dir *sessiondir.Dir) error {
		f, _, err := dir.Open(fileName)
		if err != nil {
			return err
		}
		rec, err = x.phases[i].whole(f)
		return errors.Join(err, f.Close())
	})
	if err != nil {
		return rec, fmt.Errorf("read phase output %d: %w", id, err)
	}
	return rec, nil
}

// whole puts the record together from the lines that hold its members.
func (e *entry) whole(f io.ReadSeeker) (workflow.PhaseRecord, error) {
	rec := workflow.PhaseRecord{
		ID: e.ID, SessionID: e.SessionID, PhaseID: e.PhaseID, PhaseName: e.PhaseName,
		Status: e.Status, CreatedAt: e.CreatedAt, UpdatedAt: e.UpdatedAt,
	}
	read := map[span]workflow.PhaseRecord{}
	for _, part := range []struct {
		at  span
		put func(from workflow.PhaseRecord)
	}{
		{e.prompt, func(from workflow.PhaseRecord) { rec.SystemPrompt = from.SystemPrompt }},
		{e.input, func(from workflow.PhaseRecord) { rec.UserInput = from.UserInput }},
		{e.output, func(from workflow.PhaseRecord) { rec.Output = from.Output }},
		{e.last, func(from workflow.PhaseRecord) { rec.Error = from.Error }},
	} {
		if part.at == (span{}) {
			continue
		}
		from, ok := read[part.at]
		if !ok {
			var err error
			if from, err = readLine(f, part.at); err != nil {
				return rec, err
			}
			read[part.at] = from
		}
		part.put(from)
	}
	return rec, nil
}

func readLine(f io.ReadSeeker, at span) (rec workflow.PhaseRecord, err error) {
	line := make([]byte, at.size)
	if _, err := f.Seek(at.offset, io.SeekStart); err != nil {
		return rec, err
	}
	if _, err := io.ReadFull(f, line); err != nil {
		return rec, err
	}
	return rec, json.Unmarshal(line, &rec)
}
