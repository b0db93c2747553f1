// A client of `memetik serve` in C#, for .NET, Unity and Godot: HTTP and WebSocket from the standard library, no packages.
// Compiled and run with Mono 6.8 (mcs -r:System.Net.Http.dll -r:System.Runtime.Serialization.dll Client.cs); it was not run
// inside Unity or Godot, nor with Microsoft's .NET.
//
//   memetik serve panda --port 8642
//   mono Client.exe http://127.0.0.1:8642 [TOKEN]

using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Net.Http;
using System.Net.WebSockets;
using System.Runtime.Serialization;
using System.Runtime.Serialization.Json;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

[DataContract]
public class Reply
{
    [DataMember(Name = "success")] public bool Success;
    [DataMember(Name = "code")] public int Code;            // as in MoveIt: 1 success, -31 no solution
    [DataMember(Name = "message")] public string Message;
    [DataMember(Name = "reached")] public bool Reached;
    [DataMember(Name = "q")] public Dictionary<string, double> Q;  // radians or metres by joint
}

public class Client : IDisposable
{
    readonly HttpClient http = new HttpClient();
    readonly ClientWebSocket socket = new ClientWebSocket();
    readonly string address, token;

    public Client(string address, string token)
    {
        this.address = address;
        this.token = token;
        if (token != "") http.DefaultRequestHeaders.Add("Authorization", "Bearer " + token);
    }

    // One question over HTTP; bad input comes back with Success false and what the server says about it.
    public async Task<Reply> Solve(string request)
    {
        var answer = await http.PostAsync(address + "/solve", new StringContent(request, Encoding.UTF8, "application/json"));
        return Parse(await answer.Content.ReadAsByteArrayAsync());
    }

    public Task Connect()
    {
        var uri = address.Replace("http", "ws") + "/ws" + (token == "" ? "" : "?token=" + token);
        return socket.ConnectAsync(new Uri(uri), CancellationToken.None);
    }

    // The same over a WebSocket: a tenth of a millisecond instead of one.
    public async Task<Reply> Ask(string request)
    {
        var data = new ArraySegment<byte>(Encoding.UTF8.GetBytes(request));
        await socket.SendAsync(data, WebSocketMessageType.Text, true, CancellationToken.None);
        var whole = new MemoryStream();
        var buffer = new byte[8192];
        WebSocketReceiveResult part;
        do
        {
            part = await socket.ReceiveAsync(new ArraySegment<byte>(buffer), CancellationToken.None);
            whole.Write(buffer, 0, part.Count);
        } while (!part.EndOfMessage);
        return Parse(whole.ToArray());
    }

    // Metres; the quaternion is w, x, y, z. Unity has its y axis up and is left-handed: convert (x, y, z) to (z, -x, y) first.
    public static string Pose(string frame, double[] position, double[] wxyz, Dictionary<string, double> state)
    {
        var start = string.Join(", ", state.Select(joint => "\"" + joint.Key + "\": " + Number(joint.Value)));
        return "{\"objectives\": [{\"kind\": \"Pose\", \"name\": \"hand\", \"frame\": \"" + frame + "\", \"position\": "
            + List(position) + ", \"wxyz\": " + List(wxyz) + "}], \"state\": {" + start + "}}";
    }

    static string List(double[] values) { return "[" + string.Join(", ", values.Select(Number)) + "]"; }
    static string Number(double value) { return value.ToString("R", CultureInfo.InvariantCulture); }

    static Reply Parse(byte[] data)
    {
        var settings = new DataContractJsonSerializerSettings { UseSimpleDictionaryFormat = true };
        return (Reply)new DataContractJsonSerializer(typeof(Reply), settings).ReadObject(new MemoryStream(data));
    }

    public void Dispose() { socket.Dispose(); http.Dispose(); }

    static async Task Run(string address, string token)
    {
        using (var client = new Client(address, token))
        {
            var state = new Dictionary<string, double>();
            var down = new[] { 0.0, 1.0, 0.0, 0.0 };
            var first = await client.Solve(Pose("panda_hand", new[] { 0.4, 0.0, 0.5 }, down, state));
            Console.WriteLine("HTTP: " + first.Code + ", " + first.Q.Count + " joints");
            var wrong = await client.Solve(Pose("no such link", new[] { 0.4, 0.0, 0.5 }, down, state));
            Console.WriteLine("refused: " + wrong.Code + ", " + wrong.Message.Split('.')[0]);
            await client.Connect();
            state = first.Q;
            int reached = 0, steps = 200;
            for (int k = 0; k < steps; k++)
            {
                double angle = 2.0 * Math.PI * k / steps;
                var position = new[] { 0.35 + 0.05 * Math.Cos(angle), 0.05 * Math.Sin(angle), 0.5 };
                var found = await client.Ask(Pose("panda_hand", position, down, state));
                reached += found.Reached ? 1 : 0;
                state = found.Q;
            }
            Console.WriteLine("WebSocket: " + reached + " of " + steps + " reached");
        }
    }

    public static void Main(string[] given)
    {
        Run(given.Length > 0 ? given[0] : "http://127.0.0.1:8642", given.Length > 1 ? given[1] : "").GetAwaiter().GetResult();
    }
}
