package named

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// TestNames judges calls in the directory /w for the file /w/cmd/main.go.
func TestNames(t *testing.T) {
	t.Parallel()
	testenv.Need(t, runtime.GOOS != "windows", "the paths are those of Unix")
	for _, tt := range []struct{ arguments, is string }{
		{`{"file_path": "/w/cmd/main.go"}`, "named"},
		{`{"file_path": "cmd/main.go", "content": "x"}`, "named"},
		{`{"path": "./x/..//cmd/main.go"}`, "named"},
		{`{"uri": "file:///w/cmd/main.go"}`, "named"},
		{`{"edits": [{"filePath": "cmd\/main.go"}]}`, "named"},
		{`{"paths": ["a", "cmd/main.go"]}`, "named"},
		{`{"target": "/w/cmd/main.go"}`, "named"},
		{`{"target": "cmd/main.go"}`, "guess"},
		{`{"path": "main.go", "cwd": "/w/cmd"}`, "named"},
		{`{"path": "main.go"}`, ""},
		{`{"path": "/w/cmd/main.go.orig"}`, ""},
		{`{"content": "see cmd/main.go"}`, ""},
		{`{"input": "*** Begin Patch\n*** Update File: cmd/main.go\n@@\n-a\n+b\n*** End Patch"}`, "named"},
		{`{"command": ["apply_patch", "*** Begin Patch\n*** Delete File: cmd/main.go\n*** End Patch"]}`, "named"},
		{`{"input": "*** Begin Patch\n*** Update File: main.go\n*** End Patch"}`, ""},
		{`{"command": "cat /w/cmd/main.go"}`, "guess"},
		{`{"command": "cat xcmd/main.go cmd/main.go:12"}`, "guess"},
		{`{"command": "go vet ./x/../cmd/main.go;"}`, "guess"},
		{`{"command": "grep -n 'x' \"cmd/main.go\"|head"}`, "guess"},
		{`{"command": ["bash", "-lc", "cat main.go"], "workdir": "cmd"}`, "guess"},
		{`{"command": "cat cmd/main.go.orig /v/w/cmd/main.go cmd/main.go/x ../cmd/main.go"}`, ""},
		{`not JSON: cmd/main.go`, "guess"},
		{`{"path": "cmd/main.go"`, "guess"},
		{`"cmd/main.go"`, "guess"},
		{`[null, 1, {}]`, ""},
		{``, ""},
	} {
		found, guess := Names([]byte(tt.arguments), "/w", "/w/cmd/main.go")
		is := map[string]string{"true true": "guess", "true false": "named", "false false": ""}[fmt.Sprint(found, guess)]
		require.Equal(t, tt.is, is, tt.arguments)
	}
	found, _ := Names([]byte(`{"path": "cmd/main.go"}`), "", "/w/cmd/main.go")
	require.False(t, found, "the directory is unknown")
	found, guess := Names([]byte("{\"path\": \"cafe\u0301.md\"}"), "/w", "/w/caf\u00e9.md")
	require.True(t, found && !guess)
}
