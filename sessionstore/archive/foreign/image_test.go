package foreign

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// blocks returns the texts of a message, and a word for each image.
func blocks(m sessionstore.Message) string {
	content, _ := m.Lookup("content")
	var all []string
	for block := range pyjson.Elements(content) {
		said := thread.Text(thread.Members(block, "text")[0])
		if said == "" {
			said = "image"
		}
		all = append(all, said)
	}
	return strings.Join(all, "|")
}

// TestImagesOfPrompts imports two prompts without an answer between them: the message has
// the texts and images of both, in their order.
func TestImagesOfPrompts(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	say := func(uuid, parent string) string {
		return `{"type":"user","uuid":"` + uuid + `","parentUuid":` + parent + `,"cwd":"/w","timestamp":"2026-03-04T10:00:00.000Z","message":{"role":"user","content":[{"type":"text","text":"` + uuid +
			`"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}},{"type":"text","text":"behind ` + uuid + `"}]}}` + "\n"
	}
	g.write(say("p", "null") + say("q", `"p"`) + `{"type":"assistant","uuid":"a","parentUuid":"q","timestamp":"2026-03-04T10:00:01.000Z","message":{"id":"a","role":"assistant","content":"seen"}}` + "\n")
	rows := healthy(t, g.st, g.run(nil)[0].ID)
	require.Len(t, rows, 2)
	require.Equal(t, "p|image|behind p\n\nq|image|behind q", blocks(rows[0]))
}

// TestImagesInOrder imports prompts with images between their texts, exports them, and
// imports the exports: the texts and images keep their order.
func TestImagesInOrder(t *testing.T) {
	t.Parallel()
	const claudeImage = `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}`
	const codexImage = `{"type":"input_image","image_url":"data:image/png;base64,aGk="}`
	for tool, c := range map[Tool]struct{ image, text, begin, row, answer string }{
		Claude: {
			claudeImage, `{"type":"text","text":"%"}`, "",
			`{"type":"user","uuid":"q","parentUuid":null,"cwd":"/w","timestamp":"2026-03-04T10:00:00.000Z","message":{"role":"user","content":[%]}}`,
			`{"type":"assistant","uuid":"a","parentUuid":"q","timestamp":"2026-03-04T10:00:01.000Z","message":{"id":"a","role":"assistant","content":"seen"}}`,
		},
		Codex: {
			codexImage, `{"type":"input_text","text":"%"}`,
			`{"timestamp":"2026-03-04T10:00:00.000Z","type":"session_meta","payload":{"id":"g","cwd":"/w","timestamp":"2026-03-04T10:00:00.000Z"}}` + "\n",
			`{"timestamp":"2026-03-04T10:00:00.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[%]}}`,
			`{"timestamp":"2026-03-04T10:00:01.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"seen"}]}}`,
		},
	} {
		for given, want := range map[string]string{"a,i": "a|image", "i,a": "image|a", "a,i,b,i": "a|image|b|image", "a,b,i,i,c": "a\n\nb|image|image|c", "i": "image"} {
			var parts []string
			for part := range strings.SplitSeq(given, ",") {
				if part == "i" {
					parts = append(parts, c.image)
				} else {
					parts = append(parts, strings.Replace(c.text, "%", part, 1))
				}
			}
			imported := func(tool Tool, text string) (*sessionstore.Store, sessionstore.Message) {
				p, path := openProjects(t), filepath.Join(t.TempDir(), "g.jsonl")
				require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
				report, err := Import(t.Context(), p, History{Tool: tool, ID: "g", Path: path}, &Options{Project: "-w"})
				require.NoError(t, err)
				st, err := p.Store("-w")
				require.NoError(t, err)
				s, err := st.Load(t.Context(), report.Sessions[0].ID)
				require.NoError(t, err)
				return st, s.Messages[0]
			}
			st, prompt := imported(tool, c.begin+strings.Replace(c.row, "%", strings.Join(parts, ","), 1)+"\n"+c.answer+"\n")
			require.Equal(t, want, blocks(prompt), tool)
			id := sessionstore.NewID()
			require.NoError(t, st.Save(t.Context(), id, []sessionstore.Message{prompt}, sessionstore.Metadata{}))
			for _, to := range Tools() {
				var b strings.Builder
				_, err := exportLines(t, st, id, to, &b, &ExportOptions{AsItIs: true}) // the images are made up
				require.NoError(t, err)
				_, back := imported(to, b.String())
				require.Equal(t, want, blocks(back), "from %s to %s", tool, to)
			}
		}
	}
}
