package foreign

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

const nativeID = "18f814b7-8af9-43da-b84e-49efb14e6492"

// eachTool runs a test with a session that was written here, for each tool.
func eachTool(t *testing.T, test func(t *testing.T, a *away)) {
	t.Helper()
	eachOf(t, Tools(), test)
}

// ofFiles are the tools in whose files an export goes on. What opencode has stays as it is, and it
// removes what it takes back, see TestOpenCodeContinues and TestOpenCodeTakesBack.
var ofFiles = slices.DeleteFunc(Tools(), func(tool Tool) bool { return tool == OpenCode })

func eachOf(t *testing.T, tools []Tool, test func(t *testing.T, a *away)) {
	t.Helper()
	for _, tool := range tools {
		t.Run(string(tool), func(t *testing.T) {
			t.Parallel()
			test(t, newAway(t, openProjects(t), nativeID, tool, native...))
		})
	}
}

// TestHome exports a session that goes on in the tool: the new turns come into it, again
// and again, and what was said here stays to the byte.
func TestHome(t *testing.T) {
	t.Parallel()
	eachTool(t, func(t *testing.T, a *away) {
		here := a.rows(a.id)
		a.export()
		require.Equal(t, []Imported{{a.id, Conversation, Unchanged, len(native)}}, a.back())
		require.NoDirExists(t, a.file("import"))
		a.goOn("First")
		require.Equal(t, []Imported{{a.id, Conversation, Updated, len(native) + 2}}, a.run(&Options{DryRun: true}))
		require.Equal(t, here, a.rows(a.id))
		require.Equal(t, []Imported{{a.id, Conversation, Updated, len(native) + 2}}, a.back())
		a.goOn("Second")
		a.goOn("Third")
		require.Equal(t, []Imported{{a.id, Conversation, Updated, len(native) + 6}}, a.back())
		require.True(t, strings.HasPrefix(a.rows(a.id), here))
		require.Equal(t, both("First", "Second", "Third"), a.said(a.id, len(native)))
		require.Equal(t, []string{a.id}, a.all())
		md, err := a.st.Metadata(t.Context(), a.id)
		require.NoError(t, err)
		turns, _ := md.Int("turn_count")
		require.Equal(t, 5, turns)
		require.Equal(t, []string{"Mine", "our-model", "b"}, []string{md.Text("name"), md.Text("model"), md.Text("bundle")})
		used := 0
		for u, err := range Usage(t.Context(), a.p, projects.Query{}) {
			require.NoError(t, err)
			require.Equal(t, a.id, u.Session)
			require.Equal(t, "their-model", u.Model)
			used += u.Responses
		}
		require.Equal(t, 3, used)
	})
}

// TestHomeWhereBothWentOn says something here after the export: what the tool has comes into
// a fork, which goes on with it, and the session stays to the byte.
func TestHomeWhereBothWentOn(t *testing.T) {
	t.Parallel()
	eachTool(t, func(t *testing.T, a *away) {
		a.export()
		a.say("Ours")
		here := a.rows(a.id)
		require.Equal(t, Unchanged, a.back()[0].Action)
		a.goOn("Theirs")
		made := a.back()
		require.Len(t, made, 1)
		fork := made[0].ID
		require.Equal(t, Imported{fork, Diverged, Created, len(native) + 2}, made[0])
		require.Equal(t, here, a.rows(a.id))
		require.Equal(t, both("Theirs"), a.said(fork, len(native)))
		require.ElementsMatch(t, []string{a.id, fork}, a.all())
		md, err := a.st.Metadata(t.Context(), fork)
		require.NoError(t, err)
		turn, _ := md.Int("forked_from_turn")
		require.Equal(t, 2, turn)
		require.Equal(t, a.id, md.Text("parent_id"))
		a.goOn("More")
		require.Equal(t, []Imported{{fork, Diverged, Updated, len(native) + 4}}, a.back())
		require.Equal(t, here, a.rows(a.id))
	})
}

// TestHomeAgain exports a session that came home and went on here: the tool's file goes on,
// and so does the session.
func TestHomeAgain(t *testing.T) {
	t.Parallel()
	eachTool(t, func(t *testing.T, a *away) {
		a.export()
		a.goOn("Theirs")
		a.back()
		there := original(t, a.path)
		a.say("Ours")
		here := a.rows(a.id)
		a.export()
		require.True(t, strings.HasPrefix(original(t, a.path), there))
		require.Equal(t, []Imported{{a.id, Conversation, Unchanged, len(native) + 4}}, a.back())
		a.goOn("Theirs again")
		require.Equal(t, []Imported{{a.id, Conversation, Updated, len(native) + 6}}, a.back())
		require.True(t, strings.HasPrefix(a.rows(a.id), here))
		require.Equal(t, both("Theirs", "Ours", "Theirs again"), a.said(a.id, len(native)))
		require.Equal(t, []string{a.id}, a.all())

		// The tool's file without what was said here: both went on.
		here = a.rows(a.id)
		a.write(there)
		require.Equal(t, Unchanged, a.back()[0].Action)
		a.goOn("Without")
		fork := a.back()[0]
		require.Equal(t, Diverged, fork.Kind)
		require.Equal(t, here, a.rows(a.id))
		require.Equal(t, both("Theirs", "Without"), a.said(fork.ID, len(native)))
	})
}

// TestHomeExportedTwice exports a session before and after a turn here, and lets the tool go on
// with the second file alone.
func TestHomeExportedTwice(t *testing.T) {
	t.Parallel()
	eachTool(t, func(t *testing.T, a *away) {
		a.export()
		first := original(t, a.path)
		a.say("Ours")
		a.export()
		a.goOn("Theirs")
		require.Equal(t, Updated, a.back()[0].Action)
		require.Equal(t, both("Ours", "Theirs"), a.said(a.id, len(native)))

		// The first one goes on, too.
		here := a.rows(a.id)
		a.write(first)
		require.Equal(t, Unchanged, a.back()[0].Action)
		a.goOn("Elsewhere")
		fork := a.back()[0]
		require.Equal(t, Diverged, fork.Kind)
		require.Equal(t, both("Elsewhere"), a.said(fork.ID, len(native)))
		require.Equal(t, here, a.rows(a.id))
	})
}

// TestHomeOfEdited has sessions that no longer are what was exported. What was taken out of
// them does not come back, and they do not change.
func TestHomeOfEdited(t *testing.T) {
	t.Parallel()
	rewind := func(a *away) {
		s, err := a.st.Load(a.t.Context(), a.id)
		require.NoError(a.t, err)
		require.NoError(a.t, a.st.Save(a.t.Context(), a.id, s.Messages[:5], s.Metadata))
	}
	edits := map[string]func(a *away){
		"rewound": rewind,
		"rewound and went on": func(a *away) {
			rewind(a)
			a.say("Otherwise")
		},
		"another first prompt": func(a *away) {
			s, err := a.st.Load(a.t.Context(), a.id)
			require.NoError(a.t, err)
			s.Messages[0], err = s.Messages[0].With("content", "Look at that.")
			require.NoError(a.t, err)
			require.NoError(a.t, a.st.Save(a.t.Context(), a.id, s.Messages, s.Metadata))
		},
	}
	for name, edit := range edits {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachTool(t, func(t *testing.T, a *away) {
				a.export()
				edit(a)
				here := a.rows(a.id)
				require.Equal(t, Unchanged, a.back()[0].Action)
				require.Equal(t, []string{a.id}, a.all())
				a.goOn("Theirs")
				fork := a.back()[0]
				require.Equal(t, Diverged, fork.Kind)
				require.Equal(t, both("Theirs"), a.said(fork.ID, len(native)))
				require.Equal(t, here, a.rows(a.id))

				// After the tool's turns came home, too.
				b := newAway(t, openProjects(t), nativeID, a.tool, native...)
				b.export()
				b.goOn("Theirs")
				b.back()
				edit(b)
				here = b.rows(b.id)
				require.Equal(t, Unchanged, b.back()[0].Action)
				b.goOn("More")
				require.Equal(t, Diverged, b.back()[0].Kind)
				require.Equal(t, here, b.rows(b.id))
			})
		})
	}
}

// TestHomeOfSavedAnew saves the session as the Python tools do, all rows anew, at each step.
func TestHomeOfSavedAnew(t *testing.T) {
	t.Parallel()
	eachTool(t, func(t *testing.T, a *away) {
		a.export()
		a.goOn("First")
		savedByPython(t, a.st, a.id)
		require.Equal(t, Updated, a.back()[0].Action)
		savedByPython(t, a.st, a.id)
		a.goOn("Second")
		require.Equal(t, []Imported{{a.id, Conversation, Updated, len(native) + 4}}, a.back())
		require.Equal(t, both("First", "Second"), a.said(a.id, len(native)))
		require.Equal(t, []string{a.id}, a.all())
	})
}

// TestHomeIsGone removes the session: a new one is made, and goes on when the first one is
// there again.
func TestHomeIsGone(t *testing.T) {
	t.Parallel()
	eachTool(t, func(t *testing.T, a *away) {
		a.export()
		a.goOn("First")
		require.NoError(t, os.Rename(filepath.Join(a.st.Dir(), a.id), a.home+"/away"))
		made := a.back()
		require.Equal(t, Created, made[0].Action)
		require.NotEqual(t, a.id, made[0].ID)
		require.NoError(t, os.Rename(a.home+"/away", filepath.Join(a.st.Dir(), a.id)))
		here := a.rows(a.id)
		a.goOn("Second")
		require.Equal(t, []Imported{{made[0].ID, Conversation, Updated, len(native) + 4}}, a.back())
		require.Equal(t, here, a.rows(a.id))
	})
}

// TestHomeElsewhere has the session in another project, with other metadata, and a caller that
// names a project.
func TestHomeElsewhere(t *testing.T) {
	t.Parallel()
	eachTool(t, func(t *testing.T, a *away) {
		a.export()
		a.goOn("Theirs")
		other, err := a.p.Store("-other")
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(other.Dir(), 0o700))
		require.NoError(t, os.Rename(filepath.Join(a.st.Dir(), a.id), filepath.Join(other.Dir(), a.id)))
		_, err = other.UpdateMetadata(t.Context(), a.id, func(md *sessionstore.Metadata) error {
			return errors.Join(md.Set("model", "newer"), md.Set("working_dir", "/other"), md.Set("created", "2020-01-01T00:00:00+00:00"))
		})
		require.NoError(t, err)
		require.Equal(t, Created, a.run(&Options{Project: "-third", DryRun: true})[0].Action)
		a.st = other
		require.Equal(t, []Imported{{a.id, Conversation, Updated, len(native) + 2}}, a.back())
		require.Equal(t, both("Theirs"), a.said(a.id, len(native)))
	})
}

// TestHomeOfSubSession exports a session that another one began.
func TestHomeOfSubSession(t *testing.T) {
	t.Parallel()
	for _, tool := range Tools() {
		a := newAway(t, openProjects(t), sessionstore.NewSubID("", "look", ""), tool, native...)
		a.export()
		a.goOn("Theirs")
		require.Equal(t, []Imported{{a.id, Conversation, Updated, len(native) + 2}}, a.back())
		require.Equal(t, []string{a.id}, a.all())
	}
}

// TestHomeOfImported exports sessions that were imported themselves, with a turn that was said
// here: from the tool that they go to, and from the other one.
func TestHomeOfImported(t *testing.T) {
	t.Parallel()
	for _, h := range corpus(t) {
		for _, tool := range Tools() {
			t.Run(h.ID+" to "+string(tool), func(t *testing.T) {
				t.Parallel()
				p := openProjects(t)
				h := h
				h.Agents = nil
				report, err := Import(t.Context(), p, h, &Options{Project: "-w"})
				if err != nil || !isUUID.MatchString(h.ID) || h.found.Spawned {
					return
				}
				a := newAway(t, p, report.Sessions[0].ID, tool)
				later(t, a.st, a.id)
				here, ids, n := a.rows(a.id), a.all(), len(healthy(t, a.st, a.id))
				a.export()
				require.Equal(t, Unchanged, a.back()[0].Action)
				require.Equal(t, here, a.rows(a.id))
				require.ElementsMatch(t, ids, a.all())
				a.goOn("Theirs")
				require.Contains(t, a.back(), Imported{a.id, Conversation, Updated, n + 2})
				require.True(t, strings.HasPrefix(a.rows(a.id), here))
				require.Equal(t, both("Theirs"), a.said(a.id, n))
				require.ElementsMatch(t, ids, a.all())
				if h.Tool != tool { // what it was imported from did not go on
					again, err := Import(t.Context(), p, h, &Options{Project: "-w"})
					require.NoError(t, err)
					for _, s := range again.Sessions {
						require.Equal(t, Unchanged, s.Action)
					}
					require.ElementsMatch(t, ids, a.all())
				}
				a.say("Ours")
				a.export()
				a.goOn("Theirs again")
				require.Contains(t, a.back(), Imported{a.id, Conversation, Updated, n + 6})
				require.Equal(t, both("Theirs", "Ours", "Theirs again"), a.said(a.id, n))
				require.ElementsMatch(t, ids, a.all())
			})
		}
	}
}

// TestHomeFromBoth exports a session to both tools, and both go on: what comes second becomes a
// fork. Then each goes on where it is.
func TestHomeFromBoth(t *testing.T) {
	t.Parallel()
	eachTool(t, func(t *testing.T, a *away) {
		b := newAway(t, a.p, a.id, map[Tool]Tool{Claude: Codex, Codex: Copilot, Copilot: Pi, Pi: Claude, OpenCode: Claude}[a.tool])
		a.export()
		b.export()
		a.goOn("One")
		b.goOn("Two")
		require.Equal(t, Updated, a.back()[0].Action)
		fork := b.back()[0]
		require.Equal(t, Diverged, fork.Kind)
		require.Equal(t, both("One"), a.said(a.id, len(native)))
		require.Equal(t, both("Two"), a.said(fork.ID, len(native)))
		a.goOn("Three")
		b.goOn("Four")
		require.Equal(t, Updated, a.back()[0].Action)
		require.Equal(t, []Imported{{fork.ID, Diverged, Updated, len(native) + 4}}, b.back())
		require.Equal(t, both("One", "Three"), a.said(a.id, len(native)))

		// What came from one goes to the other, and comes back.
		b.export()
		b.goOn("Five")
		require.Equal(t, Imported{a.id, Conversation, Updated, len(native) + 6}, b.back()[0])
		require.Equal(t, both("One", "Three", "Five"), a.said(a.id, len(native)))
		a.export()
		a.goOn("Six")
		require.Equal(t, Imported{a.id, Conversation, Updated, len(native) + 8}, a.back()[0])
		require.Equal(t, both("One", "Three", "Five", "Six"), a.said(a.id, len(native)))
		require.ElementsMatch(t, []string{a.id, fork.ID}, a.all())
	})
}

// TestHomeWithoutAnswer exports what ends with a prompt, or with a call without a result.
func TestHomeWithoutAnswer(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 3, 6} {
		eachTool(t, func(t *testing.T, a *away) {
			require.NoError(t, os.WriteFile(a.file("transcript.jsonl"), []byte(strings.Join(native[:n], "\n")+"\n"), 0o600))
			here := a.rows(a.id)
			a.export()
			require.Equal(t, Unchanged, a.back()[0].Action)
			a.goOn("Theirs")
			require.Equal(t, Updated, a.back()[0].Action)
			require.True(t, strings.HasPrefix(a.rows(a.id), here))
			rows := healthy(t, a.st, a.id)
			require.Equal(t, both("Theirs"), a.said(a.id, len(rows)-2))
			require.Equal(t, []string{a.id}, a.all())
		})
	}
}

// TestHomeOfThoughts exports answers that only think, which Codex gets no line of.
func TestHomeOfThoughts(t *testing.T) {
	t.Parallel()
	thought := `{"role":"assistant","content":[{"type":"thinking","thinking":"Hm."}],"thinking_text":"Hm."}`
	for _, rows := range [][]string{{native[0], thought}, {native[0], thought, native[5], native[6], thought, thought}, {thought, native[0], native[6]}} {
		for _, tool := range Tools() {
			a := newAway(t, openProjects(t), nativeID, tool, rows...)
			here := a.rows(a.id)
			a.export()
			require.Equal(t, Unchanged, a.back()[0].Action)
			a.goOn("Theirs")
			require.Equal(t, Updated, a.back()[0].Action)
			require.True(t, strings.HasPrefix(a.rows(a.id), here))
			a.goOn("More")
			require.Equal(t, Updated, a.back()[0].Action)
			require.Equal(t, []string{a.id}, a.all())
		}
	}
}

// TestHomeTakenBack lets the tool go on from an exported turn before the last one: the session
// has the turns that the tool left, and what the tool has becomes a fork of it.
func TestHomeTakenBack(t *testing.T) {
	t.Parallel()
	for _, cameHome := range []bool{false, true} {
		eachOf(t, ofFiles, func(t *testing.T, a *away) {
			a.export()
			parent := ""
			for row := range strings.Lines(original(t, a.path)) {
				if parent == "" && strings.Contains(row, "It is fine") {
					parent = uuidIn(row)
				}
			}
			if cameHome {
				a.goOn("Theirs")
				a.back()
			}
			here, ids := a.rows(a.id), a.all()
			if a.tool == Codex {
				a.add(`{"timestamp":"2026-11-25T00:00:00.000Z","type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":1}}` + "\n")
			}
			if a.tool == Codex && cameHome { // what the tool wrote itself
				require.Equal(t, Updated, a.back()[0].Action)
				return
			}
			if a.tool == Copilot { // which takes the lines out of its file
				lines, _, _ := strings.Cut(original(t, a.path), "It is fine")
				_, rest, _ := strings.Cut(original(t, a.path), "It is fine")
				rest, _, _ = strings.Cut(rest, "\n")
				require.NoError(t, os.WriteFile(a.path, []byte(lines+"It is fine"+rest+"\n"), 0o600))
			}
			a.add(a.turn("Otherwise", parent))
			made := a.back()
			require.Equal(t, here, a.rows(a.id))
			fork := made[0]
			require.Equal(t, Diverged, fork.Kind)
			require.Equal(t, both("Otherwise"), a.said(fork.ID, fork.Messages-2))
			md, err := a.st.Metadata(t.Context(), fork.ID)
			require.NoError(t, err)
			turn, _ := md.Int("forked_from_turn")
			require.Equal(t, 1, turn)
			if !cameHome {
				require.ElementsMatch(t, append(ids, fork.ID), a.all())
			}
		})
	}
}

// TestHomeOfForks lets the tools fork what was exported, as their programs do it: Claude Code
// copies the records as they are, Codex writes the items anew.
func TestHomeOfForks(t *testing.T) {
	t.Parallel()
	for _, first := range []bool{false, true} {
		eachTool(t, func(t *testing.T, a *away) {
			a.export()
			a.goOn("Theirs")
			if first {
				a.back()
			}
			b := newAway(t, a.p, a.id, a.tool)
			b.home, b.n = a.home, 10
			forked := "090fbfb7-d3a1-485b-b069-9a37fbb57ee4"
			b.path = strings.ReplaceAll(a.path, a.id, forked)
			copied := strings.ReplaceAll(original(t, a.path), `"sessionId":"`+a.id, `"sessionId":"`+forked)
			if a.tool == Pi {
				copied = strings.Replace(original(t, a.path), `"id":"`+a.id+`"`, `"id":"`+forked+`","parentSession":"`+a.path+`"`, 1)
			}
			if a.tool == Copilot {
				note := fmt.Sprintf("Forked from \\\"Mine\\\" (%s) as \\\"Mine (fork)\\\" (%s).", a.id, forked)
				copied += `{"type":"session.info","id":"` + forked + `","timestamp":"2026-11-25T01:00:00.000Z","parentId":null,"data":{"infoType":"fork","message":"` + note + `"}}` + "\n"
				require.NoError(t, os.MkdirAll(filepath.Dir(b.path), 0o700))
			}
			if a.tool == Codex {
				copied = `{"timestamp":"2026-11-25T01:00:00.000Z","type":"session_meta","payload":{"id":"` + forked + `","forked_from_id":"` + a.id + `","timestamp":"2026-11-25T01:00:00.000Z","cwd":"/w"}}` + "\n"
				for row := range strings.Lines(original(t, a.path)) {
					if row, _, marked := strings.Cut(row, `,"amplifier":`); marked {
						copied += row + "}\n"
					} else {
						copied += row
					}
				}
				copied = regexp.MustCompile(`"timestamp":"[^"]*","type"`).ReplaceAllString(copied, `"timestamp":"2026-11-25T00:09:00.000Z","type"`)
			}
			if a.tool == OpenCode {
				forked = "ses_forked"
				b.path = filepath.Join(filepath.Dir(a.path), forked+".jsonl")
				(&openCodeHome{a.t, a.home, a.p}).fork(exportID(string(a.tool), a.id), forked)
			} else {
				require.NoError(t, os.WriteFile(b.path, []byte(copied), 0o600))
			}
			b.goOn("Forked")
			b.back()
			require.Equal(t, both("Theirs"), a.said(a.id, len(native)))
			fork := idOf(a.tool, forked)
			require.Equal(t, both("Theirs", "Forked"), a.said(fork, len(native)))
			require.ElementsMatch(t, []string{a.id, fork}, a.all())
			md, err := a.st.Metadata(t.Context(), fork)
			require.NoError(t, err)
			require.Equal(t, a.id, md.Text("parent_id"))
			turn, _ := md.Int("forked_from_turn")
			require.Equal(t, 3, turn)
		})
	}
}

// TestHomeOfBranch exports the fork that an import made of a branch: it goes to the tool as a
// thread of its own, beside that which it is a branch of, and comes back into the fork.
func TestHomeOfBranch(t *testing.T) {
	t.Parallel()
	for _, h := range corpus(t) {
		p := openProjects(t)
		report, err := Import(t.Context(), p, h, &Options{Project: "-w"})
		if err != nil {
			continue
		}
		for _, s := range report.Sessions {
			if s.Kind != Branch {
				continue
			}
			a := newAway(t, p, s.ID, h.Tool)
			ids := a.all()
			a.export()
			require.NotEqual(t, h.ID, a.thread())
			a.goOn("Theirs")
			require.Equal(t, []Imported{{s.ID, Conversation, Updated, s.Messages + 2}}, a.back())
			require.ElementsMatch(t, ids, a.all())
			again, err := Import(t.Context(), p, h, &Options{Project: "-w"})
			require.NoError(t, err)
			for _, s := range again.Sessions {
				require.NotEqual(t, Created, s.Action)
			}
			require.ElementsMatch(t, ids, a.all())
			require.Equal(t, both("Theirs"), a.said(s.ID, s.Messages))
		}
	}
}

// TestHomeOfDiverged exports the fork that holds the tool's side: the thread goes on with what
// was said in it here.
func TestHomeOfDiverged(t *testing.T) {
	t.Parallel()
	eachTool(t, func(t *testing.T, a *away) {
		a.export()
		a.say("Ours")
		a.goOn("Theirs")
		fork := a.back()[0]
		here := a.rows(a.id)
		b := newAway(t, a.p, fork.ID, a.tool)
		b.home = a.home
		b.say("Ours in the fork")
		b.export()
		require.Equal(t, a.path, b.path)
		b.n = 20
		b.goOn("Theirs again")
		require.Equal(t, []Imported{{fork.ID, Conversation, Updated, len(native) + 6}}, b.back())
		require.Equal(t, both("Theirs", "Ours in the fork", "Theirs again"), a.said(fork.ID, len(native)))
		require.Equal(t, here, a.rows(a.id))
		require.ElementsMatch(t, []string{a.id, fork.ID}, a.all())
	})
}

// TestHomeOfCopy imports the exported file under another name: it is no session of its own.
func TestHomeOfCopy(t *testing.T) {
	t.Parallel()
	eachTool(t, func(t *testing.T, a *away) {
		a.export()
		h := History{Tool: a.tool, ID: "a-copy", Path: a.path, Dir: "/w"}
		report, err := Import(t.Context(), a.p, h, nil)
		require.NoError(t, err)
		require.Equal(t, []Imported{{a.id, Conversation, Unchanged, 0}}, report.Sessions)
		require.Equal(t, []string{a.id}, a.all())
		a.goOn("Theirs")
		report, err = Import(t.Context(), a.p, h, nil)
		require.NoError(t, err)
		require.Equal(t, Created, report.Sessions[0].Action)
		md, err := a.st.Metadata(t.Context(), report.Sessions[0].ID)
		require.NoError(t, err)
		require.Equal(t, a.id, md.Text("parent_id"))
	})
}

// TestHomeOfStrangers has files with marks that no export made.
func TestHomeOfStrangers(t *testing.T) {
	t.Parallel()
	for _, mark := range []string{"", "/", "x", "x/1", "../sessions/" + nativeID + "/1", ".trash/1", nativeID + "/0", nativeID + "/-1", nativeID + "/99999999999", nativeID + "/1", nativeID + "/7"} {
		a := newAway(t, openProjects(t), nativeID, Claude, native...)
		here := a.rows(a.id)
		a.path = filepath.Join(a.home, "projects", "-w", nativeID+".jsonl")
		require.NoError(t, os.MkdirAll(filepath.Dir(a.path), 0o700))
		require.NoError(t, os.WriteFile(a.path, []byte(strings.ReplaceAll(many(nativeID, 2), `"cwd"`, `"amplifier":"`+mark+`","cwd"`)), 0o600))
		a.back()
		require.Equal(t, here, a.rows(a.id))
	}
}

// TestHomeKilled ends imports before some of their operations on the disk, in the soak before
// each: the next one completes them.
func TestHomeKilled(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(a *away){
		"first": func(*away) {},
		"again": func(a *away) {
			a.goOn("Before")
			a.back()
		},
		"after a turn here": func(a *away) {
			a.goOn("Before")
			a.back()
			a.say("Ours")
			a.export()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lost, r := testenv.Lost(t), testenv.Rand(t)
			for _, tool := range Tools() {
				for at, cut := int64(0), true; cut; {
					at += 1 + r.Int64N(testenv.Share[int64](5, 5, 1))
					a := newAway(t, openProjects(t), nativeID, tool, native...)
					a.export()
					before(a)
					here := a.rows(a.id)
					a.goOn("Theirs")
					operations := int64(0)
					p, err := openSeamed(a.p.Dir(), &sessionstore.Options{Durability: sessionstore.Relaxed}, &seam.Seam{Before: func(seam.Op) error {
						if operations++; operations >= at {
							return errCut
						}
						return nil
					}})
					require.NoError(t, err)
					_, err = Import(t.Context(), p, History{Tool: tool, ID: a.thread(), Path: a.path, Dir: "/w"}, nil)
					cut = err != nil
					require.NoError(t, p.Close())
					require.True(lost, strings.HasPrefix(a.rows(a.id), here))
					a.back()
					require.True(lost, strings.HasPrefix(a.rows(a.id), here))
					require.Equal(lost, both("Theirs"), a.said(a.id, strings.Count(here, "\n")))
					require.Equal(lost, []string{a.id}, a.all(), "a fork, though nobody wrote here")
					md, err := a.st.Metadata(t.Context(), a.id)
					require.NoError(t, err)
					require.Empty(t, stateIn(md, importFolder+"_"+string(tool)).Pending)
				}
			}
		})
	}
}

var errCut = errors.New("cut")

// TestHomeWithoutOriginal has a session as another device gets it which keeps no file of the
// tool: it goes on to the tool, and comes home.
func TestHomeWithoutOriginal(t *testing.T) {
	t.Parallel()
	eachOf(t, ofFiles, func(t *testing.T, a *away) {
		a.export()
		a.goOn("Theirs")
		a.back()
		require.NoError(t, os.RemoveAll(a.file(importFolder+"_"+string(a.tool))))
		a.say("Ours")
		here := a.rows(a.id)
		a.export()
		a.goOn("Theirs again")
		require.Equal(t, []Imported{{a.id, Conversation, Updated, len(native) + 6}}, a.back())
		require.True(t, strings.HasPrefix(a.rows(a.id), here))
		require.Equal(t, []string{a.id}, a.all())
	})
}

// TestHomeOnTwoDevices imports one file into the same session of two stores: both get the same
// files.
func TestHomeOnTwoDevices(t *testing.T) {
	t.Parallel()
	eachTool(t, func(t *testing.T, a *away) {
		b := newAway(t, openProjects(t), nativeID, a.tool, native...)
		a.export()
		a.goOn("Theirs")
		a.back()
		b.home = a.home
		b.back()
		require.Equal(t, tree(t, a.p.Dir()), tree(t, b.p.Dir()))
	})
}

// TestHomeOfCompacted has a session with a compaction that was imported, exported, and came home.
func TestHomeOfCompacted(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	g.write(compaction(laterTurn))
	id := g.run(nil)[0].ID
	a := newAway(t, g.p, id, Claude)
	a.say("Ours")
	a.export()
	a.goOn("Theirs")
	n := len(healthy(t, a.st, id))
	require.Equal(t, []Imported{{id, Conversation, Updated, n + 2}}, a.back())
	require.Equal(t, both("Theirs"), a.said(id, n))
}
