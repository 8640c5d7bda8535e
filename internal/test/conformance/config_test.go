package conformance

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/format/pyyaml"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// configCase writes the configuration of a session.
type configCase struct {
	ID       string `json:"session_id"`
	Config   string `json:"config_json"`
	Expected content
}

const refusedConfig = "refused, but the text is the reference's"

func (c configCase) run(t *testing.T) verdict {
	return judge(c.Expected.String(), c.ours(t), func(f *fired) string {
		if kindOf(c.Config) != pyjson.Object && f.by(metadataObject) {
			return refusedConfig
		}
		return c.Expected.String()
	})
}

func (c configCase) ours(t *testing.T) string {
	t.Helper()
	config, err := sessionstore.ParseMetadata([]byte(c.Config))
	if err != nil {
		return c.refused(t, err)
	}
	p := newPlace(t)
	require.NoError(t, p.open(t).SaveConfig(t.Context(), c.ID, config))
	written := p.get(t, c.ID)
	require.Len(t, written, 1)
	return written["config.md"]
}

// refused returns what became of a configuration that is no object: it cannot
// be handed to the store, but what it writes with knows it.
func (c configCase) refused(t *testing.T, err error) string {
	t.Helper()
	require.ErrorIs(t, err, sessionstore.ErrCorrupt)
	yaml, err := pyyaml.Append([]byte("---\n"), []byte(c.Config))
	require.NoError(t, err)
	if text := string(yaml) + "---\n\nConfig snapshot for session " + c.ID + "\n"; text != c.Expected.String() {
		return text
	}
	return refusedConfig
}
