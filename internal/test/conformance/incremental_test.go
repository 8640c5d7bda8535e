package conformance

import (
	"encoding/json"
	"maps"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// incrementalCase is the reference's hook that saves after every tool call.
// Here that is UpdateMetadata and then Save; the hook's memory of how many
// messages there were is its caller's.
type incrementalCase struct {
	Files    files
	Messages []string `json:"messages_json"`
	Config   string   `json:"config_json"`
	Bundle   string   `json:"bundle_name"`
	Expected []files  `json:"files_after_each"`
}

func (c incrementalCase) run(t *testing.T) verdict {
	p := newPlace(t)
	st := p.open(t)
	p.put(t, "sess", c.Files)
	var ours []files
	c.hook(func(messages string) {
		c.save(t, st, messages)
	}, func() {
		ours = append(ours, p.get(t, "sess"))
	})
	return judge(c.Expected, ours, func(f *fired) (after []files) {
		m := newModel(f, "sess", c.Files)
		c.hook(func(messages string) {
			c.predict(m, messages)
		}, func() {
			after = append(after, maps.Clone(m.files))
		})
		return after
	})
}

// hook calls save for the messages that are more than ever before, and then
// after for all of them.
func (c incrementalCase) hook(save func(messages string), after func()) {
	most := 0
	for _, messages := range c.Messages {
		if n := len(elements(messages)); n > most {
			most = n
			save(messages)
		}
		after()
	}
}

// save is the hook on the store. What fails is for the next call.
func (c incrementalCase) save(t *testing.T, st *sessionstore.Store, messages string) {
	t.Helper()
	list, err := newMessages(messages)
	model, ok := modelName(c.Config)
	if err != nil || !ok {
		return
	}
	md, err := st.UpdateMetadata(t.Context(), "sess", func(md *sessionstore.Metadata) error {
		created, _ := md.Lookup("created")
		for _, f := range c.fields(messages, model, created) {
			if err := md.Set(f.name, json.RawMessage(f.value)); err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(t, err)
	require.NoError(t, st.Save(t.Context(), "sess", list, md))
}

// predict is the hook on the model.
func (c incrementalCase) predict(m *model, messages string) {
	model, ok := modelName(c.Config)
	rows, failed := m.rows(messages)
	if m.f != nil && failed != succeeded || !ok {
		return
	}
	disk, failed := m.readMetadata()
	if failed == succeeded && !truthy(disk) {
		disk = "{}"
	}
	if failed != succeeded || kindOf(disk) != pyjson.Object {
		return
	}
	var created []byte
	if i := parseObject(disk).index("created"); i >= 0 {
		created = []byte(parseObject(disk)[i].value)
	}
	fields := c.fields(messages, model, created)
	metadata := parseObject(disk).update(fields).String()
	if m.f == nil {
		m.save(messages, metadata)
		return
	}
	if metadata, failed = m.update(fields.String()); failed == succeeded {
		m.put(rows, metadata)
	}
}

// fields are the members that the hook sets. created is that on disk, or nil.
func (c incrementalCase) fields(messages, model string, created []byte) object {
	if created == nil {
		created = []byte(text(anyTime))
	}
	turns := 0
	for _, row := range elements(messages) {
		if role, ok := pyjson.Lookup(row, "role"); ok && pyjson.KeyIs(role, "user") {
			turns++
		}
	}
	return object{
		{"session_id", text("sess")},
		{"created", string(created)},
		{"bundle", text(c.Bundle)},
		{"model", model},
		{"turn_count", strconv.Itoa(turns)},
		{"incremental", "true"},
		{"working_dir", text("{CWD}")},
	}
}

// modelName returns the model that a configuration names, as JSON, or false
// where the hook fails on it.
func modelName(config string) (string, bool) {
	providers := parseObject(config).get("providers")
	list := elements(providers)
	if kindOf(providers) != pyjson.Array || len(list) == 0 {
		return text("unknown"), true
	}
	first := parseObject(string(list[0]))
	i := first.index("config")
	if i < 0 {
		return text("unknown"), true
	}
	if kindOf(first[i].value) != pyjson.Object {
		return "", false
	}
	provider := parseObject(first[i].value)
	if model := provider.get("model"); truthy(model) {
		return model, true
	}
	if i := provider.index("default_model"); i >= 0 {
		return provider[i].value, true
	}
	return text("unknown"), true
}
