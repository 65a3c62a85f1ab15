"""One job: reads input/, and keeps what it writes into distribute_save/."""

import json
import subprocess
import sys

alpha, cells = sys.argv[1:]
with open("input/rod.json") as file:
    seconds = json.load(file)["seconds"]
with open("distribute_save/profile.csv", "w") as profile:
    subprocess.run(["./heat", alpha, cells, str(seconds)], stdout=profile, check=True)
print(f"alpha {alpha}, {cells} cells: done")
