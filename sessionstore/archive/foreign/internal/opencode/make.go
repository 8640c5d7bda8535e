package opencode

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

type object = map[string]any

// maker makes the lines that the rows of a session have. See Pack for what opencode imports.
type maker struct {
	w     *thread.LineWriter
	about thread.About
	last  int64 // when the last message was made, in ms: opencode orders them by that
	model object
}

func (Tool) Maker(w *thread.LineWriter, a thread.About) thread.Maker { return &maker{w: w, about: a} }

// errNoPlace is why an export has no place below the directory of opencode.
var errNoPlace = errors.New("opencode reads an export by its own command, opencode import FILE")

// Place: a session is a row, which opencode itself writes.
func (Tool) Place(string, string) (string, error) { return "", errNoPlace }

func (c *maker) File() string { return c.about.ID + ".json" }

// version is the version that exports are made for.
const version = "1.18.33"

func (c *maker) Begin() error {
	return c.w.Row(object{"type": "session", "id": c.about.ID, "time": c.about.Began.UnixMilli(), "directory": c.about.Dir, "version": version})
}

// Join: messages follow by their times. The tool's lines are the whole conversation, see
// thread.Program.Linear.
func (c *maker) Join(string, bool) error {
	c.last = c.about.Began.UnixMilli()
	return nil
}

// idOf returns an id that differs for each key, and that sorts by the time.
func idOf(kind string, at int64, key string) string {
	return fmt.Sprintf("%s_%012x%.14s", kind, uint64(at<<12)&(1<<48-1), strings.ReplaceAll(key, "-", ""))
}

func (c *maker) Message(m thread.Made) error {
	at := max(m.At.UnixMilli(), c.last+1)
	mark := object{"mark": m.Mark}
	if m.Seal != "" {
		mark["seal"] = m.Seal
	}
	if m.Role() == "tool" {
		var said []string
		var files []object
		for _, p := range partsOf(m) {
			if text, ok := p["text"].(string); ok {
				said = append(said, text)
				continue
			}
			files = append(files, p)
		}
		state := object{"status": "completed", "output": strings.Join(said, "\n"), "title": "", "metadata": object{}, "time": object{"start": at, "end": at}}
		if len(files) > 0 {
			state["attachments"] = files
		}
		return c.w.Row(object{"type": "result", "call": m.ToolCallID(), "time": at, "state": state, "metadata": object{markMember: mark}})
	}
	c.last = at
	key := thread.UUID5(c.about.ID, m.Key) // a further export has ids of its own
	var parts []object
	add := func(data object) {
		parts = append(parts, object{"id": fmt.Sprintf("%s%03d", idOf("prt", at, key), len(parts)+1), "data": data})
	}
	data := object{"role": "user", "time": object{"created": at}, "agent": "build", "model": c.goesOn()}
	switch {
	case m.Role() == "assistant":
		finish := "stop"
		if m.Said != "" || len(m.ToolCalls()) == 0 {
			add(object{"type": "text", "text": m.Said, "metadata": object{markMember: mark}})
		}
		for _, call := range m.ToolCalls() {
			add(object{"type": "tool", "tool": call.Name, "callID": call.ID, "state": object{"input": thread.Input(call.Arguments)}, "metadata": object{markMember: mark}})
			finish = "tool-calls"
		}
		data = object{
			"role": "assistant", "time": object{"created": at, "completed": at}, "mode": "build", "agent": "build", "path": object{"cwd": c.about.Dir, "root": c.about.Dir}, "cost": 0,
			"tokens": object{"input": 0, "output": 0, "reasoning": 0, "cache": object{"read": 0, "write": 0}}, "providerID": provider, "modelID": c.about.Model, "finish": finish,
		}
	case m.Reminder:
		add(object{"type": "text", "text": m.Said, "synthetic": true, "metadata": object{markMember: mark}})
	default:
		all := partsOf(m)
		if all[0]["type"] != "text" { // a picture has no metadata
			all = append([]object{{"type": "text", "text": ""}}, all...)
		}
		all[0]["metadata"] = object{markMember: mark}
		for _, data := range all {
			add(data)
		}
	}
	return c.w.Row(object{"type": "message", "id": idOf("msg", at, key), "time": at, "data": data, "parts": parts})
}

// provider names the provider of answers that opencode did not get from one.
const provider = "amplifier"

// goesOn returns the model of a prompt, with which opencode goes on: the one that a person used
// last in the directory, or else on this machine, and the session's own where it used none.
func (c *maker) goesOn() object {
	if c.model != nil {
		return c.model
	}
	c.model = object{"providerID": provider, "modelID": c.about.Model}
	path := filepath.Join(c.about.Home, file)
	if _, err := os.Stat(path); err != nil || c.about.Home == "" || c.about.ID == "" { // lines to compare need none
		return c.model
	}
	var by, model string
	err := read(context.Background(), path, func(r rows) error {
		return r.db.QueryRowContext(r.ctx, `SELECT model ->> 'providerID', model ->> 'id' FROM session
			WHERE coalesce(parent_id, '') = '' AND json_valid(`+short("model")+`) AND model ->> 'providerID' <> ? ORDER BY directory = ? DESC, time_updated DESC LIMIT 1`, provider, c.about.Dir).Scan(&by, &model)
	})
	if err == nil && by != "" && model != "" {
		c.model = object{"providerID": by, "modelID": model}
	}
	return c.model
}

// partsOf returns the texts and pictures of a message as parts.
func partsOf(m thread.Made) (all []object) {
	for _, b := range m.Shown() {
		if b.Text != nil {
			all = append(all, object{"type": "text", "text": thread.Text(thread.Members(b.Text, "text")[0])})
		} else {
			all = append(all, object{"type": "file", "mime": b.Media, "url": "data:" + b.Media + ";base64," + b.Data})
		}
	}
	return all
}
