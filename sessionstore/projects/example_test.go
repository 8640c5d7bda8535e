package projects_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// twoSessions makes a directory of projects for the examples.
func twoSessions(ctx context.Context) (p *projects.Projects, done func()) {
	dir, err := os.MkdirTemp("", "projects")
	if err != nil {
		log.Fatal(err)
	}
	if p, err = projects.Open(dir, nil); err != nil {
		log.Fatal(err)
	}
	for id, text := range map[string]string{"rain-1": "Is it raining?", "sun-1": "Is it sunny?"} {
		st, err := p.Store("-home-ada-weather")
		if err != nil {
			log.Fatal(err)
		}
		m, err := sessionstore.NewMessage(map[string]string{"role": "user", "content": text})
		if err != nil {
			log.Fatal(err)
		}
		if err := st.Append(ctx, id, m); err != nil {
			log.Fatal(err)
		}
	}
	return p, func() {
		if err := p.Close(); err != nil {
			log.Fatal(err)
		}
		if err := os.RemoveAll(dir); err != nil {
			log.Fatal(err)
		}
	}
}

func ExampleProjects_Find() {
	ctx := context.Background()
	p, done := twoSessions(ctx)
	defer done()
	found, err := p.Find(ctx, projects.Query{Keyword: "RAINING", Limit: 10})
	if err != nil {
		log.Print(err) // sessions that cannot be read; the others are found
	}
	for _, f := range found {
		fmt.Println(f.ID, f.Project)
	}
	// Output: rain-1 -home-ada-weather
}

func ExampleProjects_Resolve() {
	ctx := context.Background()
	p, done := twoSessions(ctx)
	defer done()
	dir, err := p.Resolve(ctx, "sun", "")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(filepath.Base(dir))
	_, err = p.Resolve(ctx, "snow", "")
	fmt.Println(err)
	// Output:
	// sun-1
	// No session found matching 'snow'
}

func ExampleProjects_Search() {
	ctx := context.Background()
	p, done := twoSessions(ctx)
	defer done()
	for hit, err := range p.Search(ctx, sessionstore.Sought{Text: "sunny"}, projects.Query{}) {
		if err != nil {
			log.Print(err) // a session that cannot be read; the others are searched
			continue
		}
		fmt.Printf("%s, message %d: %s[%s]%s\n", hit.ID, hit.Message, hit.Before, hit.Text, hit.After)
	}
	// Output: sun-1, message 1: Is it [sunny]?
}
