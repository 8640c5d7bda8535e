package checkpoint

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

func TestPrompt(t *testing.T) {
	t.Parallel()
	s := put(t, newStore(t), t.TempDir(), example(t))
	golden(t, "prompt.txt", Prompt(s.State(), map[int]string{4: "Notebook Review"}))
	require.Contains(t, Prompt(s.State(), nil), "Status: Phase 4\n")
	require.Equal(t, "a b[31m", summary("a\n b\x1b[31m"), "nothing a terminal would obey")
}

func TestPlanPrompt(t *testing.T) {
	t.Parallel()
	golden(t, "plan.txt", Plan{Items: []Item{
		{ID: "session-20260201-101500-1", Status: Completed, Age: 80 * time.Hour, Action: Delete},
		{ID: "session-20260202-101500-2", Status: Interrupted, Age: 49 * time.Hour, Action: Archive},
		{ID: "session-20260203-101500-3", Status: Aborted, Age: 25 * time.Hour, Action: Archive},
		{ID: "session-20260203-101500-4", Status: Completed, Age: 25 * time.Hour, Action: Keep},
	}}.Prompt())
	require.Empty(t, Plan{}.Prompt())
}

func TestProvenance(t *testing.T) {
	t.Parallel()
	p := Provenance{
		"scientific-analysis-architect v2.0.0", "session-20260204-143022-12345", 1, "research-architect",
		time.Date(2026, 2, 4, 14, 36, 0, 0, time.UTC),
	}
	header, err := p.Header()
	require.NoError(t, err)
	golden(t, "provenance.md", header)
	for _, bad := range []string{"a --> b", "a\nb"} {
		_, err := Provenance{Agent: bad}.Header()
		require.Error(t, err)
	}
}

// TestCreated holds the file of a new session, but for its id and directories.
func TestCreated(t *testing.T) {
	t.Parallel()
	output := t.TempDir()
	s, err := newStore(t).Create(t.Context(), output, Setup{Chapters: 5, Context: Context{
		DatasetDescription: "mice", ResearchGoals: "<aging> é", BiologicalContext: map[string]string{"cells": "neurons"},
	}})
	require.NoError(t, err)
	got := strings.ReplaceAll(onDisk(t, s), s.State().ID(), "session-20260205-120000-1")
	golden(t, "created.json", strings.ReplaceAll(got, jsonPath(output), "/output"))
}
