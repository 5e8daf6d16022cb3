import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.language.contradiction import compare, settles


@pytest.mark.parametrize(
    ("older", "newer", "why"),
    [
        ("We use PostgreSQL for the API", "We switched the API from PostgreSQL to SQLite", "change"),
        ("We use PostgreSQL for the API", "Use SQLite instead of PostgreSQL for the API", "change"),
        ("I drink coffee", "I no longer drink coffee", "ended"),
        ("Prefer tabs over spaces", "Prefer spaces over tabs", "swapped"),
        ("Always run the tests before committing", "Never run the tests before committing", "negation"),
        ("I like spicy food", "I don't like spicy food", "negation"),
        ("The staging server listens on port 8080", "The staging server listens on port 9090", "number"),
        ("I live in Berlin", "I live in Lisbon", "value"),
        ("The release manager is Priya", "The release manager is Tomas", "value"),
    ],
)
def test_what_cannot_both_hold_clashes(older: str, newer: str, why: str) -> None:
    verdict = compare(older, newer)
    assert verdict.why == why
    assert verdict.clash >= 0.6


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I like tea", "The build runs on Jenkins"),
        ("My name is Max", "My favourite colour is red"),
        ("I prefer tea", "I prefer coffee in the morning"),
        ("We use React", "We use PostgreSQL"),
        ("I hate loud music", "I don't like loud music"),
        ("The test takes 5 minutes", "The deploy of the shop needs 9 approvals"),
        ("Never commit secrets", "Never commit secrets to the repo"),
        ("", "anything"),
        ("Use pnpm to install packages, not npm", "Install packages with pnpm in every workspace"),
    ],
)
def test_what_can_both_hold_does_not(older: str, newer: str) -> None:
    assert compare(older, newer).clash < 0.6


@pytest.mark.parametrize(
    ("older", "newer", "part"),
    [
        ("Deploys go out on Fridays.", "Deploys of the docs no longer go out on Fridays.", True),
        ("Deploys go out on Fridays.", "We switched deploys of the docs from Fridays to Mondays.", True),
        ("We deploy on Fridays.", "We no longer deploy the docs on Fridays.", True),
        ("The API uses PostgreSQL.", "The reports API no longer uses PostgreSQL.", True),
        ("We use Kafka.", "The billing team no longer uses Kafka.", True),
        ("The timeout is 30 seconds.", "The billing timeout is now 60 seconds.", True),
        ("The release manager is Priya.", "The docs release manager is Tomas now.", True),
        ("Deploys go out on Fridays.", "Deploys no longer go out on Fridays.", False),
        ("Deploys of the docs go out on Fridays.", "We moved deploys of the docs from Fridays to Mondays.", False),
        ("We deploy on Fridays.", "The team no longer deploys on Fridays.", False),
        ("The deadline is 3 March.", "The project deadline moved from 3 March to 9 March.", False),
        ("I work at Acme.", "I left Acme and now work at Globex.", False),
        ("We log in JSON.", "The logs are plain text, no longer JSON.", False),
        ("Deploys go out on Fridays.", "Deploys moved from Fridays to Mondays because of the on-call rota.", False),
        ("The API uses PostgreSQL.", "We migrated the API from PostgreSQL to SQLite.", False),
        ("The bus is Kafka.", "We replaced Kafka with NATS as the bus.", False),
        ("I drink coffee.", "I no longer drink coffee, only green tea.", False),
        ("The release manager is Priya.", "The new release manager is Tomas now.", False),
        ("The timeout is 30 seconds.", "The timeout is now 60 seconds.", False),
        ("The PostgreSQL server listens on port 5432.", "The PostgreSQL server now listens on port 5433.", False),
        ("The GitHub runner uses Ubuntu.", "The GitHub runner no longer uses Ubuntu.", False),
        ("We use Google Cloud.", "We moved from Google Cloud to Hetzner Cloud.", False),
        ("I prefer dark mode.", "I prefer light mode now instead of dark mode.", False),
        ("Bob owns the billing module.", "Since Monday Bob no longer owns billing.", False),
        ("The release is on Friday.", "The March release moved from Friday to Monday.", True),
    ],
)
def test_what_is_about_a_part_ends_nothing(older: str, newer: str, part: bool) -> None:
    verdict = compare(older, newer)
    assert verdict.clash >= 0.6
    assert verdict.part == part == (verdict.change < 0.5)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Priya is on leave.", "Tomas replaced Priya as release manager."),
        ("Bob lives in Oslo.", "Carol took over billing from Bob."),
        ("The standup is on Monday.", "We moved the retro from Monday to Tuesday."),
        ("Monday is a holiday.", "We moved the standup from Monday to Tuesday."),
        ("The config is in YAML.", "We converted the fixtures from YAML to JSON."),
        ("The npm token lies in the vault.", "We switched from npm to pnpm."),
        ("We use Jest.", "We never switched from Jest to Vitest."),
        ("We use Jest.", "We have not moved from Jest to Vitest."),
        ("We use Jest.", "We are going to switch from Jest to Vitest."),
        ("We use Jest.", "Next week we move from Jest to Vitest."),
        ("We use Jest.", "Alice says we switched from Jest to Vitest."),
        ("We support Node 18.", "We now support Node 20."),
        ("I live in Oslo.", "I went from Oslo to Bergen by train."),
        ("The docs release manager is Tomas.", "The release manager is now Anna."),
        ("Never push to main.", "Pushing to main is fine now."),
        ("The standup starts at 10.", "The standup is on Mondays now."),
        ("I work at Acme.", "My brother now works at Globex."),
        ("Bob is the designer.", "Bob is the lead now."),
        ("We use Jest and Playwright.", "We switched from Playwright to Cypress."),
        ("We deploy on Mondays and Fridays.", "We no longer deploy on Fridays."),
        ("Run lint, tests and the build.", "We no longer run the build."),
        ("We use AWS.", "We no longer use AWS Lambda."),
        ("We use GitHub.", "We stopped using GitHub Copilot."),
        ("We use React.", "We replaced React Router with TanStack Router."),
        ("I like Rust.", "I no longer like Rust's async."),
        ("We deploy on Fridays.", "We no longer deploy on Fridays before a holiday."),
        ("We deploy on Fridays.", "We no longer deploy on Fridays until March."),
        ("We deploy on Fridays.", "This week we deploy on Thursday instead of Friday."),
        ("The standup is at 10.", "On 2026-11-20 the standup is at 11 instead of 10."),
        ("We use Jest.", "Should we switch from Jest to Vitest?"),
        ("We use Jest.", "We might switch from Jest to Vitest."),
        ("We use Jest.", "We are migrating from Jest to Vitest."),
        ("We use Jest.", "We tried Vitest instead of Jest."),
        ("We use Jest.", "We moved from Jest to Vitest but went back."),
        ("We use Jest.", "Don't use Vitest instead of Jest."),
        ("We use Jest.", "We haven't stopped using Jest."),
        ("We use Jest.", "The other team switched from Jest to Vitest."),
        ("We use Jest.", "Bob wants us to use Vitest instead of Jest."),
        ("Use yarn.", "The mobile app uses npm instead of yarn."),
        ("Use tabs.", "YAML files need spaces instead of tabs."),
        ("We use GitHub Actions for CI.", "We moved deploys from GitHub Actions to ArgoCD."),
        ("The retro is on Friday.", "The planning moved from Friday to Monday."),
        ("Don't use any in TypeScript.", "Use any in TypeScript tests now."),
        ("The release manager is Priya.", "The release manager Tomas was replaced by Priya."),
        ("Anna likes tea.", "Anna was replaced by Tom."),
        ("Alice and Bob review PRs.", "Bob no longer reviews PRs."),
        ("The office opens at 8.", "The office now closes at 6."),
        ("The gateway is nginx.", "The gateway is now behind Cloudflare."),
        ("Bob lives in Oslo.", "Bob's company moved from Oslo to Bergen."),
        ("Priya is a vegetarian.", "Priya is now a manager."),
        ("The release is on Monday.", "The release is now called Falcon."),
        ("The app is hosted on AWS.", "The app is now owned by Carol."),
        ("The database is Postgres.", "The database is now in Frankfurt."),
        ("The meeting is at 10.", "The meeting is now in Berlin."),
    ],
)
def test_what_is_no_clear_change_of_it_ends_nothing(older: str, newer: str) -> None:
    verdict = compare(older, newer)
    assert verdict.clash < 0.6 or verdict.change < 0.5


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The release manager is Priya.", "Tomas replaced Priya as release manager."),
        ("The release manager is Priya.", "Priya handed the release manager role over to Tomas."),
        ("Bob owns billing.", "Carol took over billing from Bob."),
        ("We switched from Jest to Vitest.", "We switched back from Vitest to Jest."),
        ("We switched from Jest to Vitest.", "We use Jest again."),
        ("We no longer use Redis.", "We use Redis again."),
        ("The API uses PostgreSQL.", "We migrated the API to SQLite from PostgreSQL."),
        ("The project is called Loom.", "We renamed Loom to Weft."),
        ("The port is now 9000.", "The port is now 9100."),
        ("We use Node 18.", "We upgraded to Node 20."),
        ("We deploy on Fridays.", "We deploy on Mondays now."),
        ("We use Jest for tests.", "We now use Vitest for tests."),
        ("The lead is Ann.", "Bob is the lead now."),
        ("The billing API is written in Kotlin.", "The billing API is now written in Rust."),
        ("Backups run at 3 am.", "Nightly backups now run at 4 am."),
        ("We use npm.", "We moved from npm to pnpm for licensing reasons."),
        ("We use Next.js.", "We moved from Next.js to Remix."),
        ("We host on Heroku.", "We moved from Heroku to Fly.io."),
        ("We use Python 3.10.", "We upgraded from Python 3.10 to 3.12."),
        ("We use Jest.", "In the week of 2026-11-16 we moved from Jest to Vitest."),
        ("We use Jest.", "Today we switched from Jest to Vitest."),
        ("We use Jest.", "We no longer use Jest and switched to Vitest."),
        ("We use Jest.", "We don't use Jest anymore."),
        ("We use Jest.", "We stopped using Jest."),
        ("We deploy on Fridays.", "We no longer deploy on Fridays because it broke production."),
        ("We deploy on Fridays.", "As of today we deploy on Mondays instead of Fridays."),
        ("Use tabs.", "Always use spaces instead of tabs."),
        ("The deadline is on Friday.", "The deadline is now on Monday."),
        ("The app is on AWS.", "The app is now hosted on Azure."),
        ("The project is Loom.", "The project is now called Weft."),
        ("My dog is called Rex.", "My dog is now called Max."),
        ("The timeout is 30 seconds.", "We raised the timeout from 30 to 60 seconds."),
        ("The release manager is Tomas.", "Tomas was replaced by Priya as release manager."),
    ],
)
def test_a_clear_change_ends_what_was_so(older: str, newer: str) -> None:
    verdict = compare(older, newer)
    assert verdict.clash >= 0.6 and verdict.change >= 0.5 and not verdict.part


def test_what_is_said_again_ends_its_rival_and_no_rule_and_no_exception() -> None:
    rule, exception = "The release manager is Priya.", "The docs release manager is Tomas."
    assert settles("The release manager is Tomas.", rule)
    assert not settles(exception, rule) and not settles(rule, exception)
    assert not settles("Alice says the release manager is Tomas.", rule)


@pytest.mark.parametrize(
    "said",
    [
        "Should we switch from Jest to Vitest?",
        "We will switch from Jest to Vitest.",
        "We might switch from Jest to Vitest.",
        "We are migrating from Jest to Vitest.",
        "Today we use Vitest instead of Jest.",
    ],
)
def test_what_is_asked_or_to_come_or_passes_ends_nothing_however_often_it_is_said(said: str) -> None:
    assert not settles(said, "We use Jest.")
    assert settles("We use Jest.", said)


def test_what_is_so_on_a_day_ends_nothing_and_a_new_day_ends_the_old_one() -> None:
    assert not settles("The standup is at 11 on 2026-11-20.", "The standup is at 10.")
    assert settles("The release is on 2026-12-08.", "The release is on 2026-12-01.")
    assert settles("The lease was moved to 3 May 2031.", "The lease is to 9 April 2031.")


def test_the_words_of_change_say_that_it_changed() -> None:
    assert (
        compare("I live in Berlin", "I live in Lisbon now").change
        > compare("I live in Berlin", "I live in Lisbon").change
    )


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_two_texts_have_a_verdict(older: str, newer: str) -> None:
    verdict = compare(older, newer)
    assert 0 <= verdict.clash <= 1
    assert 0 <= verdict.change <= 1


@given(st.text(alphabet="abc not 12.", max_size=80))
def test_a_text_does_not_contradict_itself(text: str) -> None:
    assert compare(text, text).clash == 0


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I'm vegetarian.", "I'm not vegetarian anymore."),
        ("I'm vegetarian.", "I am not a vegetarian any more, I eat fish now."),
        ("Bo is our release manager.", "Bo isn't our release manager any more."),
    ],
)
def test_what_somebody_is_no_more_has_ended(older: str, newer: str) -> None:
    assert compare(older, newer).change >= 0.8


def test_who_moves_to_a_place_lives_there() -> None:
    assert compare("I live in Ghent.", "I moved to Berlin.").clash >= 0.6
    assert compare("Petra lives in Ghent.", "Petra has moved to Berlin.").clash >= 0.6
    assert not compare("I live in Ghent.", "I moved to Ghent in May.").clash
    assert not compare("My sister lives in Ghent.", "I moved to Berlin.").clash
    assert not compare("I live in Ghent.", "I moved to the second floor.").clash
    assert not compare("We live in Ghent.", "We moved to Zulip.").clash


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("My son is a vegetarian.", "I'm not a vegetarian any more."),
        ("Bo is on the importer team.", "I am not on the importer team any more."),
        ("My wife works at Acme.", "I'm not at Acme anymore."),
        ("The database is Postgres.", "The database is 14 GB now."),
        ("The timeout is a hard limit.", "The timeout is 60 seconds now."),
        ("Our port is 8080.", "Our port isn't 9090."),
        ("The importer port is 8080.", "The importer port is not 9090."),
    ],
)
def test_what_is_said_of_another_or_of_another_attribute_is_no_rival(older: str, newer: str) -> None:
    assert not compare(older, newer).clash


def test_what_is_no_more_or_is_now_still_ends_what_it_names() -> None:
    assert compare("My diet is vegetarian.", "I'm not a vegetarian any more.").change >= 0.8
    assert compare("User is a vegetarian.", "I'm not a vegetarian any more.").change >= 0.8
    assert compare("Heron is our main service.", "I'm not on Heron any more.").clash
    assert compare("My wife and I drink coffee.", "I no longer drink coffee.").clash
    assert compare("The timeout is 30 seconds.", "The timeout is 60 seconds now.").change >= 0.5
    assert compare("The timeout is unlimited.", "The timeout is 60 seconds now.").change >= 0.5
    assert compare("The database is Postgres 16.", "The database is MySQL now.").change >= 0.5
    assert compare("Our port is 8080.", "Our port isn't 8080.").clash >= 0.6


def test_what_somebody_moves_to_need_be_no_place() -> None:
    moved = compare("Petra lives in Ghent.", "Petra has moved to TypeScript.")
    assert moved.change < 0.5, "both stay until it is settled"
