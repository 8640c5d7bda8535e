package conformance

import (
	"fmt"
	"maps"
	"testing"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// crashCase is an append of the newer tools, stopped at every step.
type crashCase struct {
	Start    files  `json:"files"`
	Messages string `json:"messages_json"`
	Metadata string `json:"metadata_json"`
	Points   []struct {
		Point       string
		Before      files                     `json:"files"`
		Read        string                    `json:"messages_json"`
		Diagnostics []sessionstore.Diagnostic `json:"diagnostics"`
		Error       *strictFailure
		After       files    `json:"after_retry"`
		RetryError  *failure `json:"retry_error"`
	}
}

// crashPoint is what is read at a point, and what a save of the same messages
// with newer metadata makes of it.
type crashPoint struct {
	Point string
	Read  strictRead
	Saved historyOutcome
}

// again is the metadata of that save.
const again = `{"v": 3}`

func (c crashCase) run(t *testing.T) verdict {
	var reference, ours []crashPoint
	var wrong error
	for _, p := range c.Points {
		saved := historyOutcome{p.RetryError.savingOutcome(), p.After}
		reference = append(reference, crashPoint{p.Point, readOf(p.Read, p.Diagnostics, p.Error), saved})
		point, err := c.ours(t, p.Before)
		if err != nil && wrong == nil {
			wrong = fmt.Errorf("at %s: %w", p.Point, err)
		}
		point.Point = p.Point
		ours = append(ours, point)
	}
	v := judge(reference, ours, c.predict)
	if v.err == nil {
		v.err = wrong
	}
	return v
}

// ours reads and saves at a point. The error says what is wrong with that
// whatever the reference does.
func (c crashCase) ours(t *testing.T, before files) (o crashPoint, err error) {
	t.Helper()
	p := newPlace(t)
	p.put(t, "sess", before)
	half := maps.Clone(before)
	delete(half, metadataFile)
	delete(half, metadataBackup)
	p.put(t, "half", half)
	st := p.open(t)
	s, read := loadStrict(t, st, "half")
	if read.Failed == succeeded {
		read.Value = messagesText(t, s.Messages)
		if l, _ := load(t, st); l.Transcript != read.Value {
			err = difference("Load and LoadStrict", read.Value, l)
		}
	}
	o = crashPoint{Read: read, Saved: historyOutcome{Failed: save(t, st, "sess", c.Messages, again)}}
	o.Saved.Files = p.get(t, "sess")
	if err == nil && o.Saved.Failed == succeeded {
		err = sound(t, c.Messages, before, o.Saved.Files)
	}
	return o, err
}

func (c crashCase) predict(f *fired) (points []crashPoint) {
	for _, p := range c.Points {
		o := crashPoint{Point: p.Point}
		rows, found, ok := newerRows(p.Before)
		if o.Read.Diagnostics = append([]sessionstore.Diagnostic{}, found...); ok {
			o.Read.Value = listText(rows)
		} else {
			o.Read.Failed, o.Read.Source = newerFailure("transcript"), "transcript"
		}
		h := &history{f: f, files: maps.Clone(p.Before)}
		o.Saved.Failed = h.save(saving{c.Messages, again, saveOptions{Incremental: true}})
		o.Saved.Files = h.files
		points = append(points, o)
	}
	return points
}
