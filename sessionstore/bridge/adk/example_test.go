package adk_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/amplifier-go/sessionstorage/sessionstore/bridge/adk"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

func Example() {
	dir, err := os.MkdirTemp("", "")
	check(err)
	defer os.RemoveAll(dir)
	p, err := projects.Open(dir, nil) // "" is where the tools look
	check(err)
	defer p.Close()

	ctx := context.Background()
	service := adk.New(p) // for runner.Config.SessionService
	made, err := service.Create(ctx, &session.CreateRequest{AppName: "weather", UserID: "ada", SessionID: "talk"})
	check(err)
	question := session.NewEvent(ctx, "first")
	question.Author = "user"
	question.Content = genai.NewContentFromText("Will it rain?", genai.RoleUser)
	question.Actions.StateDelta["place"] = "here"
	check(service.AppendEvent(ctx, made.Session, question)) // on the disk when it returns

	got, err := service.Get(ctx, &session.GetRequest{AppName: "weather", UserID: "ada", SessionID: "talk", NumRecentEvents: 10})
	check(err)
	place, err := got.Session.State().Get("place")
	check(err)
	fmt.Println(got.Session.Events().At(0).Content.Parts[0].Text, place)
	// Output: Will it rain? here
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
