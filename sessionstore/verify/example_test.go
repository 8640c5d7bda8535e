package verify_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/verify"
)

// All sessions of a store are checked.
func Example() {
	dir, err := os.MkdirTemp("", "sessions")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for name, text := range map[string]string{
		"metadata.json":           "{}",
		"transcript.jsonl":        "{\"role\": \"user\"}\n{\"role\": \"ass",
		"transcript.jsonl.backup": "{\"role\": \"user\"}\n",
	} {
		path := filepath.Join(dir, "forecast", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			log.Fatal(err)
		}
	}
	st, err := sessionstore.Open(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer st.Close()

	for f, err := range verify.CheckAll(context.Background(), st, nil) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(f.Session, f.Kind, f.File, f.Line)
	}
	// Output:
	// forecast recovered transcript.jsonl 2
}
