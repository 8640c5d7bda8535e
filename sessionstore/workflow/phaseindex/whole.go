package phaseindex

import (
	"encoding/json"
	"io"

	"github.com/amplifier-go/sessionstorage/sessionstore/workflow"
)

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
